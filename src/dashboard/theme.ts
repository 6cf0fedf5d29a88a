/** Dark or light: as the system has it, until the reader says otherwise. */

import { byId } from "./element.ts";

const STORAGE_KEY = "warmpath-theme";

/** In the order in which the button goes through them. */
const THEMES = ["auto", "light", "dark"] as const;

type Theme = (typeof THEMES)[number];

/** Follows the button and the system; `changed` is called after the colours are others. */
export function startTheme(changed: () => void): void {
  const button = byId("theme");
  let theme = storedTheme();
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  apply();
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
    localStorage.setItem(STORAGE_KEY, theme);
    apply();
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

function storedTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_KEY);
  return THEMES.find((theme) => theme === stored) ?? "auto";
}
