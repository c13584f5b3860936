// The switch between light and dark; without a choice the page follows the system.

const KEY = "weigh-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = localStorage.getItem(KEY);
  return chosen === null ? dark.matches : chosen === "dark";
}

function show(button) {
  const chosen = localStorage.getItem(KEY);
  document.documentElement.classList.toggle("dark", chosen === "dark");
  document.documentElement.classList.toggle("light", chosen === "light");
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
}

export function startThemeSwitch(button) {
  button.addEventListener("click", () => {
    const wanted = isDark() ? "light" : "dark";
    // A choice that equals the system's setting is none, so that the page follows it again.
    if ((wanted === "dark") === dark.matches) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, wanted);
    show(button);
  });
  dark.addEventListener("change", () => show(button));
  show(button);
}
