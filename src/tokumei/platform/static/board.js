// The scoreboard on the reader's terms: sorted, filtered, with chosen columns, and fresh while the contest runs.

const table = document.querySelector("table.board");
const tools = document.querySelector(".board-tools");
const KEPT = "tokumei-board-columns";
let sorted = null;

const number = (cell) => {
  const text = cell.textContent.trim().replace(/,/g, "");
  return text === "" || Number.isNaN(Number(text)) ? null : Number(text);
};

function sort() {
  if (!sorted) return;
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => {
    const [a, b] = [one, other].map((row) => row.cells[sorted.column]);
    const [x, y] = [number(a), number(b)];
    // What has no number comes last, whichever way the others go.
    if (x === null && y === null) return sorted.way * a.textContent.localeCompare(b.textContent, document.documentElement.lang);
    if (x === null || y === null) return x === null ? 1 : -1;
    return sorted.way * (x - y);
  });
  table.tBodies[0].append(...rows);
  [...table.tHead.rows[0].cells].forEach((cell, place) => {
    if (place === sorted.column) cell.setAttribute("aria-sort", sorted.way > 0 ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
  });
}

function filter() {
  const wanted = tools.querySelector("[name=filter]").value.trim().toLowerCase();
  for (const row of table.tBodies[0].rows) row.hidden = !row.cells[1].textContent.toLowerCase().includes(wanted);
}

function choose() {
  const hidden = [...tools.querySelectorAll("[name=column]")].filter((box) => !box.checked).map((box) => box.value);
  try {
    window.localStorage.setItem(KEPT, JSON.stringify(hidden));
  } catch {
    // Without a store the choice holds for this page alone.
  }
  for (const row of table.rows) {
    [...row.cells].forEach((cell, place) => {
      cell.hidden = hidden.includes(table.tHead.rows[0].cells[place].textContent.trim());
    });
  }
}

async function refresh() {
  try {
    const answer = await fetch(window.location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("table.board tbody");
    if (answer.ok && fresh && fresh.innerHTML !== last) {
      last = fresh.innerHTML;
      table.tBodies[0].replaceWith(document.adoptNode(fresh));
      sort();
      filter();
      choose();
      for (const image of document.querySelectorAll(".drawn img")) image.src = `${image.src.split("?")[0]}?at=${Date.now()}`;
    }
  } catch {
    // The server is away for a moment; the next look may find it.
  }
}

let last = table ? table.tBodies[0].innerHTML : "";
if (table && tools) {
  tools.hidden = false;
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      sorted = { column, way: sorted && sorted.column === column ? -sorted.way : 1 };
      sort();
    });
  });
  let hidden = [];
  try {
    hidden = JSON.parse(window.localStorage.getItem(KEPT) || "[]");
  } catch {
    // As above.
  }
  const box = tools.querySelector("[data-columns]");
  for (const cell of heads.slice(2)) {
    const name = cell.textContent.trim();
    const label = document.createElement("label");
    label.className = "choice";
    const input = document.createElement("input");
    Object.assign(input, { type: "checkbox", name: "column", value: name, checked: !hidden.includes(name) });
    input.addEventListener("change", choose);
    label.append(input, ` ${name}`);
    box.append(label);
  }
  tools.querySelector("[name=filter]").addEventListener("input", filter);
  choose();
  if (tools.dataset.refresh) window.setInterval(refresh, Number(tools.dataset.refresh) * 1000);
}
