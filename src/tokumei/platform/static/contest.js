// What pages of contests do without reloading: count down, take files that are dropped, show how far work is.

const SECOND = 1000;

function words(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / SECOND));
  const days = Math.floor(seconds / 86400);
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
  const unit = new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit: "day", unitDisplay: "long" });
  return days > 0 ? `${unit.format(days)} ${clock}` : clock;
}

for (const place of document.querySelectorAll("[data-until]")) {
  const until = Date.parse(place.dataset.until);
  const tick = () => {
    place.textContent = words(until - Date.now());
    // The next phase has begun: the page has to change, but not in a tight loop while its files are being made.
    if (Date.now() > until + 2 * SECOND) {
      window.setTimeout(() => window.location.reload(), 5 * SECOND);
      window.clearInterval(timer);
    }
  };
  const timer = window.setInterval(tick, SECOND);
  tick();
}

for (const place of document.querySelectorAll("[data-reload]")) {
  window.setTimeout(() => window.location.reload(), Number(place.dataset.reload) * SECOND);
}

for (const field of document.querySelectorAll(".drop")) {
  const input = field.querySelector("input[type=file]");
  const mark = () => field.classList.toggle("filled", input.files.length > 0);
  input.addEventListener("change", mark);
  for (const kind of ["dragenter", "dragover"]) {
    field.addEventListener(kind, (event) => {
      event.preventDefault();
      field.classList.add("over");
    });
  }
  field.addEventListener("dragleave", (event) => {
    // Passing over what is inside the field is not leaving it.
    if (!field.contains(event.relatedTarget)) field.classList.remove("over");
  });
  field.addEventListener("drop", (event) => {
    event.preventDefault();
    field.classList.remove("over");
    if (event.dataTransfer.files.length > 0) input.files = event.dataTransfer.files;
    mark();
  });
  mark();
}

// A file that is dropped beside a field would otherwise replace the page.
if (document.querySelector(".drop")) {
  for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault());
}

for (const area of document.querySelectorAll("[data-upload]")) {
  const form = area.closest("form");
  const bar = area.querySelector("progress");
  const fault = area.querySelector("[role=alert]");
  const buttons = form.querySelectorAll("button");
  const fail = (message) => {
    bar.hidden = true;
    fault.hidden = false;
    fault.textContent = message;
    for (const button of buttons) button.disabled = false;
    delete form.dataset.sent;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (buttons[0].disabled) return;
    const request = new XMLHttpRequest();
    // A second button may send the same files elsewhere, to be checked only.
    request.open("POST", (event.submitter && event.submitter.getAttribute("formaction")) || form.action);
    request.setRequestHeader("X-Upload", "yes");
    request.responseType = "json";
    request.upload.addEventListener("progress", (sent) => {
      if (sent.lengthComputable) bar.value = sent.loaded / sent.total;
    });
    request.addEventListener("load", () => {
      const answer = request.response;
      if (answer && answer.location) window.location.assign(answer.location);
      else if (request.status === 413) fail(area.dataset.large);
      else fail((answer && answer.message) || area.dataset.lost);
    });
    request.addEventListener("error", () => fail(area.dataset.lost));
    fault.hidden = true;
    bar.hidden = false;
    bar.value = 0;
    const sent = new FormData(form);
    for (const button of buttons) button.disabled = true;
    request.send(sent);
  });
}

// Whoever comes back by the browser's button finds the form as it was before it was sent.
window.addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("form button[disabled]")) button.disabled = false;
  for (const bar of document.querySelectorAll("[data-upload] progress")) bar.hidden = true;
});

// What is typed into a form of several steps is kept without a button, too: files alone wait for one.
const kept = { form: document.querySelector("form[data-autosave]"), isTyped: false, isSent: false };

async function keep() {
  const typed = new FormData(kept.form);
  for (const [name, value] of [...typed]) if (value instanceof File) typed.delete(name);
  // A name beside its own button is not added before that is pressed.
  typed.delete("username");
  kept.isTyped = false;
  await fetch(kept.form.action, { method: "POST", body: typed, headers: { "X-Autosave": "yes" }, keepalive: true });
}

if (kept.form) {
  kept.form.addEventListener("input", () => { kept.isTyped = true; });
  kept.form.addEventListener("submit", () => { kept.isSent = true; });
  kept.form.addEventListener("change", (event) => {
    if (event.target.type !== "file") keep().catch(() => {});
  });
}

// A page that shows what is new must lose neither what was typed nor what is being sent, nor a file that was chosen.
async function reload() {
  if (kept.form) {
    const isChosen = [...kept.form.querySelectorAll("input[type=file]")].some((input) => input.files.length > 0);
    if (kept.isSent || isChosen) return;
    if (kept.isTyped) await keep();
  }
  window.location.reload();
}

for (const place of document.querySelectorAll("[data-poll]")) {
  const bar = place.querySelector("progress");
  const look = async () => {
    try {
      const answer = await fetch(place.dataset.poll, { headers: { Accept: "application/json" } });
      if (answer.ok) {
        const now = await answer.json();
        if (now.is_final) {
          await reload();
          return;
        }
        place.querySelector("[data-says]").textContent = now.says;
        place.querySelector("[data-step]").textContent = now.progress.step || "";
        if (now.progress.total) {
          bar.max = now.progress.total;
          bar.value = now.progress.done;
        }
      }
    } catch {
      // The server is away for a moment; the next look may find it.
    }
    window.setTimeout(look, 0.7 * SECOND);
  };
  look();
}
