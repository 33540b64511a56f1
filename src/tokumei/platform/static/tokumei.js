// Small comforts that pages work without: copying, and asking before something is lost.

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = button.dataset.copied;
    } catch {
      // The text stays selected, so that it can be copied by hand.
    }
  });
}

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!window.confirm(form.dataset.confirm)) {
      event.preventDefault();
      return;
    }
    // The server asks those who have no scripts.
    const sure = document.createElement("input");
    Object.assign(sure, { type: "hidden", name: "sure", value: "yes" });
    form.append(sure);
  });
}

// A form sent twice by an impatient click would be two attempts.
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Times are shown by the reader's clock from the next page on; a zone chosen in the settings comes first.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.includes(`tokumei_zone=${zone}`)) {
  const secure = window.location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `tokumei_zone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
