/** Light, dark, or as the system has it. Kept in this browser. */

export const themes = ["system", "light", "dark"] as const
export type Theme = (typeof themes)[number]

const key = "keepup.theme"

export function readTheme(): Theme {
  return themes.find((one) => one === localStorage.getItem(key)) ?? "system"
}

export function applyTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  if (theme === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] as Theme
}
