// Sliders say their value while they are moved; roles color their row at once. Everything works without this, too.

for (const slider of document.querySelectorAll("[data-slider]")) {
  const shown = slider.closest(".field").querySelector("[data-value]");
  const show = () => {
    shown.value = slider.value;
  };
  slider.addEventListener("input", show);
  show();
}

for (const choice of document.querySelectorAll(".columns-table select")) {
  choice.addEventListener("change", () => {
    choice.closest("tr").className = `role-${choice.value}`;
  });
}
