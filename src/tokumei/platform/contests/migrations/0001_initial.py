from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

from tokumei.platform.contests.models import new_folder_key, new_submission_key
from tokumei.platform.messages import SentenceField

USER = settings.AUTH_USER_MODEL


class Migration(migrations.Migration):
    initial = True

    dependencies = [("jobs", "0001_initial"), ("teams", "0001_initial"), migrations.swappable_dependency(USER)]

    operations = [
        migrations.CreateModel(
            name="Contest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("title", models.CharField(max_length=120)),
                ("edition", models.CharField(blank=True, max_length=60)),
                ("options", models.JSONField(blank=True, default=dict)),
                ("own_toml", models.TextField(blank=True)),
                ("is_public", models.BooleanField(default=True)),
                ("opens_at", models.DateTimeField(default=timezone.now)),
                ("attacks_open_at", models.DateTimeField()),
                ("closes_at", models.DateTimeField()),
                ("prepared_at", models.DateTimeField(blank=True, null=True)),
                ("published_at", models.DateTimeField(blank=True, null=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("heads", models.JSONField(blank=True, default=dict)),
                ("key", models.CharField(blank=True, max_length=64)),
                ("trouble", models.TextField(blank=True)),
                ("trouble_details", SentenceField(blank=True)),
                (
                    "board",
                    models.CharField(
                        choices=[("live", "Live"), ("frozen", "Frozen"), ("hidden", "Hidden until the end")],
                        default="live",
                        max_length=10,
                    ),
                ),
                ("board_frozen_at", models.DateTimeField(blank=True, null=True)),
                ("digits_shown", models.PositiveSmallIntegerField(default=3)),
                ("shows_guess_scores", models.BooleanField(default=False)),
                (
                    "counts",
                    models.CharField(
                        choices=[
                            ("latest", "The latest that was scored"),
                            ("best", "The best that was scored"),
                            ("chosen", "The one that the team chooses"),
                        ],
                        default="latest",
                        max_length=10,
                    ),
                ),
                ("releases_a_day", models.PositiveSmallIntegerField(default=5)),
                ("releases_in_all", models.PositiveSmallIntegerField(default=20)),
                ("guesses_a_day", models.PositiveSmallIntegerField(default=20)),
                ("guesses_on_one", models.PositiveSmallIntegerField(default=10)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("description", models.TextField(blank=True, max_length=20000)),
                ("description_ja", models.TextField(blank=True, max_length=20000)),
                ("is_held", models.BooleanField(default=False)),
                ("told", models.JSONField(blank=True, default=list)),
                ("folder_key", models.CharField(default=new_folder_key, editable=False, max_length=32)),
                ("co_organizers", models.ManyToManyField(blank=True, related_name="co_organized", to=USER)),
                ("organizer", models.ForeignKey(on_delete=models.PROTECT, related_name="contests", to=USER)),
            ],
            options={"ordering": ("-created_at",)},
        ),
        migrations.CreateModel(
            name="Announcement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.CharField(max_length=120)),
                ("text", models.TextField(max_length=5000)),
                ("title_ja", models.CharField(blank=True, max_length=120)),
                ("text_ja", models.TextField(blank=True, max_length=5000)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "contest",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="announcements", to="contests.contest"),
                ),
            ],
            options={"ordering": ("-at",)},
        ),
        migrations.CreateModel(
            name="ContestDraft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(default=new_submission_key, editable=False, max_length=32, unique=True)),
                ("answers", models.JSONField(blank=True, default=dict)),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("changed_at", models.DateTimeField(default=timezone.now)),
                ("by", models.ForeignKey(on_delete=models.CASCADE, related_name="contest_drafts", to=USER)),
                ("co_organizers", models.ManyToManyField(blank=True, related_name="shared_drafts", to=USER)),
            ],
            options={"ordering": ("-changed_at", "-id")},
        ),
        migrations.CreateModel(
            name="ContestInvitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("note", models.CharField(blank=True, max_length=120)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "contest",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="invitations", to="contests.contest"),
                ),
                (
                    "used_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.SET_NULL, related_name="+", to="teams.team"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FileCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(default=new_submission_key, editable=False, max_length=32, unique=True)),
                ("kind", models.CharField(choices=[("release", "Release"), ("guess", "Guess")], max_length=10)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("passed", "It keeps all rules"),
                            ("refused", "It breaks a rule"),
                            ("failed", "The platform failed to check it"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("at", models.DateTimeField(default=timezone.now)),
                ("files", models.JSONField(default=dict)),
                ("groups", models.JSONField(blank=True, default=list)),
                ("n_faults", models.PositiveIntegerField(default=0)),
                ("notes", models.JSONField(blank=True, default=list)),
                ("by", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to=USER)),
                ("contest", models.ForeignKey(on_delete=models.CASCADE, related_name="checks", to="contests.contest")),
                (
                    "job",
                    models.OneToOneField(
                        null=True, on_delete=models.SET_NULL, related_name="file_check", to="jobs.job"
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.CASCADE, related_name="+", to="teams.team"
                    ),
                ),
                ("team", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="teams.team")),
            ],
            options={"ordering": ("-at", "-id")},
        ),
        migrations.CreateModel(
            name="OrganizerAction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("what", models.CharField(max_length=30)),
                ("details", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("by", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to=USER)),
                ("contest", models.ForeignKey(on_delete=models.CASCADE, related_name="actions", to="contests.contest")),
            ],
            options={"ordering": ("-at", "-id")},
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(max_length=2000)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("answer", models.TextField(blank=True, max_length=5000)),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                ("is_public", models.BooleanField(default=True)),
                ("by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=USER)),
                (
                    "contest",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="questions", to="contests.contest"),
                ),
            ],
            options={"ordering": ("-at", "-id")},
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(default=new_submission_key, editable=False, max_length=32, unique=True)),
                ("kind", models.CharField(choices=[("release", "Release"), ("guess", "Guess")], max_length=10)),
                ("knowledge", models.CharField(blank=True, max_length=20)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Being evaluated"),
                            ("scored", "Scored"),
                            ("refused", "Refused: it breaks a rule"),
                            ("failed", "The platform failed; no attempt was counted"),
                        ],
                        db_index=True,
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("at", models.DateTimeField(default=timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("files", models.JSONField(default=dict)),
                ("score", models.JSONField(blank=True, null=True)),
                ("seal", models.CharField(blank=True, max_length=64)),
                ("faults", models.JSONField(blank=True, default=list)),
                ("n_faults", models.PositiveIntegerField(default=0)),
                ("reason", models.TextField(blank=True)),
                ("note", models.TextField(blank=True, max_length=2000)),
                ("by", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=USER)),
                (
                    "contest",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="submissions", to="contests.contest"),
                ),
                (
                    "job",
                    models.OneToOneField(
                        null=True, on_delete=models.SET_NULL, related_name="submission", to="jobs.job"
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to="teams.team"
                    ),
                ),
                ("team", models.ForeignKey(on_delete=models.PROTECT, related_name="submissions", to="teams.team")),
            ],
            options={"ordering": ("-at", "-id")},
        ),
        migrations.CreateModel(
            name="Participation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("joined_at", models.DateTimeField(auto_now_add=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                ("disqualified_at", models.DateTimeField(blank=True, null=True)),
                ("disqualified_for", models.CharField(blank=True, max_length=500)),
                ("chosen_at", models.DateTimeField(blank=True, null=True)),
                (
                    "contest",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="participations", to="contests.contest"),
                ),
                ("team", models.ForeignKey(on_delete=models.PROTECT, related_name="participations", to="teams.team")),
                (
                    "chosen",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.SET_NULL, related_name="+", to="contests.submission"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RosterEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("contest", models.ForeignKey(on_delete=models.CASCADE, related_name="roster", to="contests.contest")),
                ("team", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="teams.team")),
                ("user", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=USER)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("contest", "team", "user"), name="on_a_roster_once")]
            },
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["contest", "kind", "state"], name="contests_su_contest_1ebd62_idx"),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["contest", "state", "finished_at"], name="contests_su_contest_efda0a_idx"),
        ),
        migrations.AddConstraint(
            model_name="participation",
            constraint=models.UniqueConstraint(fields=("contest", "team"), name="a_team_takes_part_once"),
        ),
    ]
