"""Making a contest, changing its schedule and board, and deleting it."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from tokumei.contest.setting import counts_said, source_of
from tokumei.core.errors import InputError, NotAllowed
from tokumei.data.files.disk import write_text
from tokumei.data.files.formats import TEXT_SUFFIXES, ending_of
from tokumei.data.files.reading import AS_IT_IS, Reading
from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Announcement, Board, Contest, Counts, Phase
from tokumei.platform.contests.services.news import record, record_changes, tell_announcement
from tokumei.platform.contests.services.phase_work import CLOSE, PHASE_CHANGES, PREPARE, PUBLISH, READING, phase_jobs
from tokumei.platform.contests.services.rulebook import edition_of, terms_of
from tokumei.platform.files.shared import share, unshare
from tokumei.platform.files.uploads import BLOCK, telling_full_disk, write_privately
from tokumei.platform.jobs.queue import begin, begin_again


def remove_files(contest: Contest) -> None:
    """Remove the contest folder, its lock and its source, and what was packed of it."""
    files = Path(settings.MEDIA_ROOT)
    for kind in ("contests", "sources", "exports", "kits"):
        unshare(files / kind / contest.folder_key)
    (files / "contests" / f".{contest.folder_key}.lock").unlink(missing_ok=True)


LONGEST_TOML = 100_000
SCHEDULE = ("opens_at", "attacks_open_at", "closes_at")


def create_contest(
    user: User,
    *,
    slug: str,
    title: str,
    opens_at: datetime,
    attacks_open_at: datetime,
    closes_at: datetime,
    edition: str = "",
    options: Mapping[str, object] | None = None,
    own_toml: str = "",
    source: UploadedFile[bytes] | None = None,
    reading: Reading = AS_IT_IS,
    is_public: bool = True,
    board: str = Board.LIVE,
    digits_shown: int = 3,
    shows_guess_scores: bool = False,
    releases_a_day: int = 5,
    releases_in_all: int | None = None,
    guesses_a_day: int = 20,
    guesses_on_one: int | None = None,
    description: str = "",
    description_ja: str = "",
    counts: str | None = None,
) -> Contest:
    """Make a contest of an edition, or of one's own TOML text, and have its data prepared.

    source: what the data is sampled from; made up where missing.
    reading: how the source is read, such as which of its columns is the customer.
    The limits in all are the edition's where none are given; the latest release counts, unless another rule is said.
    """
    if not user.may_organize:
        raise NotAllowed(_("Only organizers make contests."))
    if bool(edition) == bool(own_toml) or len(own_toml) > LONGEST_TOML:
        raise InputError.of("either an edition or a TOML text of at most 100,000 characters")
    _check_order(opens_at, attacks_open_at, closes_at)
    contest = Contest(
        slug=slug,
        title=title,
        edition=edition,
        options=dict(options or {}),
        own_toml=own_toml,
        counts=counts or counts_said(own_toml) or Counts.LATEST,
        organizer=user,
        is_public=is_public,
        opens_at=opens_at,
        attacks_open_at=attacks_open_at,
        closes_at=closes_at,
        board=board,
        digits_shown=digits_shown,
        shows_guess_scores=shows_guess_scores,
        releases_a_day=releases_a_day,
        guesses_a_day=guesses_a_day,
        description=description,
        description_ja=description_ja,
        board_frozen_at=timezone.now() if board == Board.FROZEN else None,
    )
    # Reading the rules now shows what is wrong with them while the organizer is still there.
    terms = terms_of(contest)
    if source is None and source_of(edition_of(contest)) is not None:
        raise InputError.of("the data file that the TOML text names", column="source")
    if source is None and reading != AS_IT_IS:
        raise InputError.of("a data file, which is read so", column="reading", value=", ".join(reading.as_dict()))
    contest.releases_in_all = terms.n_releases_allowed if releases_in_all is None else releases_in_all
    contest.guesses_on_one = _limit_guesses(guesses_on_one, terms.n_guesses_allowed)
    try:
        if source is not None:
            _store_source(contest, source, reading)
        with transaction.atomic():
            contest.save(force_insert=True)
            record(contest, user, "create")
            begin(PREPARE, contest.pk)
    except BaseException as error:
        unshare(contest.sources)
        if isinstance(error, IntegrityError):
            raise NotAllowed(_("A contest has this short name already.")) from None
        raise
    return contest


def change_schedule(
    contest: Contest, *, opens_at: datetime, attacks_open_at: datetime, closes_at: datetime, by: User | None = None
) -> None:
    """Move the phases that have not begun; what is over stays as it was."""
    _check_order(opens_at, attacks_open_at, closes_at)
    now = timezone.now()
    with transaction.atomic():
        locked = Contest.objects.select_for_update().get(pk=contest.pk)
        if locked.closed_at is not None:
            raise NotAllowed(_("The contest is over."))
        if opens_at != locked.opens_at and locked.opens_at <= now and locked.prepared_at is not None:
            raise NotAllowed(_("The contest is open already: when it opened cannot be changed."))
        if attacks_open_at != locked.attacks_open_at and locked.published_at is not None:
            raise NotAllowed(_("The releases are published already: when attacks began cannot be changed."))
        for moment, before in ((attacks_open_at, locked.attacks_open_at), (closes_at, locked.closes_at)):
            if moment != before and moment <= now:
                raise NotAllowed(_("A phase cannot end in the past."))
        _move(locked, by, "schedule", opens_at=opens_at, attacks_open_at=attacks_open_at, closes_at=closes_at)
    contest.refresh_from_db(fields=SCHEDULE)


def begin_next_phase(contest: Contest, by: User | None = None) -> None:
    """Begin the next phase now: open, publish and begin attacks, or close."""
    now = timezone.now()
    with transaction.atomic():
        locked = Contest.objects.select_for_update().get(pk=contest.pk)
        moments = {Phase.UPCOMING: "opens_at", Phase.ANONYMIZE: "attacks_open_at", Phase.ATTACK: "closes_at"}
        moment = moments.get(locked.phase_at(now))
        if moment is None:
            raise NotAllowed(_("No phase can begin now."))
        _move(locked, by, "phase_now", **{moment: now})
    contest.refresh_from_db(fields=SCHEDULE)


def _move(locked: Contest, by: User | None, what: str, **moments: datetime) -> None:
    """Change the times of phases, and note what they were."""
    _stop_waiting_work(locked)
    before = {name: getattr(locked, name) for name in moments}
    for name, value in moments.items():
        setattr(locked, name, value)
    if locked.prepared_at is not None:
        locked.trouble = locked.trouble_details = ""
    locked.save(update_fields=[*SCHEDULE, "trouble", "trouble_details"])
    record_changes(locked, by, what, before, moments)


def _stop_waiting_work(contest: Contest) -> None:
    """Take back a change of phase that failed or has not begun; one that runs cannot be taken back."""
    change = PUBLISH if contest.published_at is None else CLOSE
    for job in phase_jobs(contest).select_for_update().filter(kind=change):
        if not job.is_done:
            raise NotAllowed(_("The change of phase is under way: the schedule cannot be changed now."))
        job.delete()


def change_board(
    contest: Contest, *, board: str, digits_shown: int, shows_guess_scores: bool, by: User | None = None
) -> None:
    """Choose what teams see of scores while the contest runs; freezing keeps the board as it is now."""
    before = {name: getattr(contest, name) for name in ("board", "digits_shown", "shows_guess_scores")}
    if board == Board.FROZEN and contest.board != Board.FROZEN:
        contest.board_frozen_at = timezone.now()
    elif board != Board.FROZEN:
        contest.board_frozen_at = None
    contest.board, contest.digits_shown, contest.shows_guess_scores = board, digits_shown, shows_guess_scores
    contest.save(update_fields=["board", "board_frozen_at", "digits_shown", "shows_guess_scores"])
    after = {"board": board, "digits_shown": digits_shown, "shows_guess_scores": shows_guess_scores}
    record_changes(contest, by, "board", before, after)


def announce(
    contest: Contest, *, title: str, text: str, title_ja: str = "", text_ja: str = "", by: User | None = None
) -> Announcement:
    """Announce something to everybody in a contest, in one language or both."""
    with transaction.atomic():
        made = Announcement.objects.create(contest=contest, title=title, text=text, title_ja=title_ja, text_ja=text_ja)
        record(contest, by, "announce", title=title)
        tell_announcement(made)
    return made


def retry_work(contest: Contest, by: User | None = None) -> None:
    """Try again to prepare, publish or close, after that failed and its cause is gone."""
    with transaction.atomic():
        done = dict(zip(PHASE_CHANGES, (contest.prepared_at, contest.published_at, contest.closed_at), strict=True))
        failed = phase_jobs(contest).select_for_update().filter(is_done=True)
        waiting = [job for job in failed if done[job.kind] is None]
        if not waiting:
            raise NotAllowed(_("There is nothing to try again."))
        for job in waiting:
            begin_again(job)
        Contest.objects.filter(pk=contest.pk).update(trouble="", trouble_details="")
        record(contest, by, "retry", kinds=", ".join(job.kind for job in waiting))


def delete_contest(contest: Contest) -> None:
    """Remove a contest in which nothing was submitted yet, with its files."""
    with transaction.atomic():
        locked = Contest.objects.select_for_update().get(pk=contest.pk)
        # Holding every team's lock, so that nothing is handed in meanwhile.
        list(locked.participations.select_for_update())
        if locked.submissions.exists():
            raise NotAllowed(_("There are submissions in this contest: it cannot be removed."))
        if phase_jobs(locked).filter(is_running=True, is_done=False).exists():
            raise NotAllowed(_("The contest is being worked on: try again in a moment."))
        phase_jobs(locked).delete()
        locked.delete()
        transaction.on_commit(lambda: remove_files(contest))


def refuse_while_organizing(user: User) -> None:
    """Refuse to delete the account of who runs a contest: nobody else could answer for it."""
    running = Contest.objects.filter(organizer=user, closed_at=None).first()
    if running is not None:
        raise NotAllowed(_("You organize %s, which is not over.") % running.title)


def _check_order(opens_at: datetime, attacks_open_at: datetime, closes_at: datetime) -> None:
    if not opens_at < attacks_open_at < closes_at:
        raise InputError.of("the opening before the beginning of attacks, and that before the end")


def _limit_guesses(wanted: int | None, allowed: int) -> int:
    """Keep the limit of the edition, by which the folder of the closed contest is replayed."""
    if wanted is not None and wanted > allowed:
        most = f"at most {allowed} guess{'' if allowed == 1 else 'es'} at one release"
        raise InputError.of(most, column="guesses_on_one", value=wanted)
    return allowed if wanted is None else wanted


def _check_encoding(source: UploadedFile[bytes], ending: str, reading: Reading) -> None:
    """Refuse text of another encoding before anything is made of it, and say how to name that."""
    if reading.encoding or ending not in TEXT_SUFFIXES:
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in source.chunks(BLOCK):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        expected = _("text in UTF-8; where it is another, say so under How it is read, such as encoding=cp932")
        raise InputError.of(expected, column="source", value=source.name) from None


def _store_source(contest: Contest, source: UploadedFile[bytes], reading: Reading) -> None:
    # Of the name that the browser sent only its ending is kept, which says how to read the file.
    given = (source.name or "").lower()
    ending = ending_of(given, column="source", value=given)
    _check_encoding(source, ending, reading)
    with telling_full_disk():
        contest.sources.mkdir(mode=0o700, parents=True)
        write_privately(source.chunks(BLOCK), contest.sources / f"source{ending}")
        if reading != AS_IT_IS:
            write_text(contest.sources / READING, json.dumps(reading.as_dict(), ensure_ascii=False))
    share(contest.sources)
