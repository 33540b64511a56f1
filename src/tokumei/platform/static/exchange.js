// Sliders that show at once what an offer says of levels. All numbers come from the server, as without this script.

const WAIT = 60;
const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 0 });

for (const form of document.querySelectorAll("[data-predictor]")) {
  const place = (name) => form.querySelector(`[data-${name}]`);
  const ask = place("ask");
  const sliders = [...form.querySelectorAll("input[type=range]")];
  place("without-script").hidden = true;
  let timer = 0;
  let asked = 0;

  const show = (answer) => {
    const zone = place("zone");
    zone.textContent = answer.zone_name;
    zone.className = `tag ${answer.tag}`;
    place("why").textContent = answer.why;
    for (const [name, value] of Object.entries({ k: answer.k, low: answer.low, high: answer.high, judged: answer.judged, classes: answer.class_count })) {
      place(name).textContent = number.format(value);
    }
    const { mark } = answer;
    place("mark").setAttribute("cx", mark.x);
    place("mark").setAttribute("cy", mark.y);
    for (const [name, value] of Object.entries({ x1: mark.x, x2: mark.x, y1: mark.low, y2: mark.high })) {
      place("band").setAttribute(name, value);
    }
    for (const name of ["x", "y", "width", "height"]) place("t").setAttribute(name, mark[`t_${name}`] || 0);
    sliders.forEach((slider, at) => {
      const field = slider.closest(".field");
      field.querySelector("[data-n]").textContent = answer.at[at].says;
      field.querySelector("[data-labels]").textContent = answer.at[at].labels.join(" · ") + (answer.at[at].n_more ? " …" : "");
    });
    ask.hidden = !answer.can_ask;
  };

  const look = async () => {
    const chosen = new URLSearchParams(new FormData(form)).toString();
    asked += 1;
    const turn = asked;
    try {
      const response = await fetch(`${form.dataset.try}?${chosen}`, { headers: { Accept: "application/json" } });
      // An answer that was overtaken by a later one would move the mark back.
      if (!response.ok || turn !== asked) return;
      show(await response.json());
      ask.href = `${ask.href.split("?")[0]}?${chosen}`;
      window.history.replaceState(null, "", `?${chosen}`);
    } catch {
      // The server is away for a moment; the next move asks again.
    }
  };

  form.addEventListener("input", (event) => {
    window.clearTimeout(timer);
    // Another criterion has another figure: the page as a whole changes.
    if (event.target.name === "c") form.submit();
    else timer = window.setTimeout(look, WAIT);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    look();
  });
}

for (const place of document.querySelectorAll("[data-poll]")) {
  const look = async () => {
    try {
      const answer = await fetch(place.dataset.poll, { headers: { Accept: "application/json" } });
      if (answer.ok && (await answer.json()).is_final) {
        window.location.reload();
        return;
      }
    } catch {
      // The server is away for a moment; the next look may find it.
    }
    window.setTimeout(look, 1500);
  };
  window.setTimeout(look, 700);
}

// Levels of the first release by lists of their labels, read from the hierarchy files as they are chosen; what is chosen
// stands in the field as before.
const levelsField = document.querySelector("input[name=first_levels]");
const hierarchyFiles = document.querySelector("input[type=file][name=hierarchies]");
if (levelsField && hierarchyFiles) {
  const pickers = document.createElement("div");
  pickers.className = "level-pickers";
  levelsField.before(pickers);
  const write = () => {
    const chosen = [...pickers.querySelectorAll("select")].filter((one) => one.value !== "");
    levelsField.value = chosen.map((one) => `${one.dataset.column}=${one.value}`).join(",");
  };
  hierarchyFiles.addEventListener("change", async () => {
    pickers.replaceChildren();
    for (const file of hierarchyFiles.files) {
      const lines = (await file.text()).split(/\r?\n/).filter((line) => line !== "").map((line) => line.split(/[,;]/));
      if (!lines.length || lines[0].length < 2) continue;
      const label = document.createElement("label");
      const select = document.createElement("select");
      select.dataset.column = file.name.replace(/\.csv$/i, "");
      select.append(new Option("–", ""));
      for (let level = 0; level < lines[0].length; level += 1) {
        const labels = [...new Set(lines.map((cells) => cells[level]))];
        select.append(new Option(labels.slice(0, 4).join(" · ") + (labels.length > 4 ? " …" : ""), String(level)));
      }
      select.addEventListener("change", write);
      label.append(select.dataset.column, " ", select);
      pickers.append(label);
    }
  });
}
