import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

/** Sea green, `oklch(0.62 0.12 180)` at index 5; text on light takes index 7, whose contrast is 5.6. */
const sea: MantineColorsTuple = [
  ...(["#e9fcf7", "#cff5ec", "#a8ebdc", "#74dac6", "#39c3ae"] as const),
  ...(["#009d89", "#008574", "#007565", "#006154", "#00483e"] as const),
];
const red: MantineColorsTuple = [
  ...(["#fff0ee", "#ffdfdb", "#ffc2bc", "#ff9d96", "#ff7e77"] as const),
  ...(["#e24947", "#cc3336", "#b71824", "#a50013", "#7d000d"] as const),
];
const gray: MantineColorsTuple = [
  ...(["#f6f9f9", "#eff3f3", "#e4e9e9", "#d7dddd", "#c2c9c9"] as const),
  ...(["#94999a", "#6e7677", "#525656", "#373b3c", "#1a1e1e"] as const),
];
const dark: MantineColorsTuple = [
  ...(["#dfe5e5", "#c2c9c9", "#a2abab", "#8d9696", "#3a4141"] as const),
  ...(["#2a3030", "#1e2424", "#131717", "#0e1212", "#0a0d0d"] as const),
];

export const theme = createTheme({
  primaryColor: "sea",
  primaryShade: { light: 7, dark: 7 },
  colors: { sea, red, gray, dark },
  black: "#171c1c",
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'Noto Sans Mono', 'Liberation Mono', monospace",
  fontSizes: { xs: "0.75rem", sm: "0.875rem", md: "0.875rem", lg: "1rem", xl: "1.25rem" },
  spacing: { xs: "4px", sm: "8px", md: "12px", lg: "20px", xl: "32px" },
  radius: { xs: "2px", sm: "4px", md: "6px", lg: "8px", xl: "12px" },
  defaultRadius: "md",
  headings: {
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "1.25rem", lineHeight: "1.4" },
      h2: { fontSize: "1rem", lineHeight: "1.5" },
      h3: { fontSize: "0.875rem", lineHeight: "1.5" },
    },
  },
  shadows: { md: "0 6px 24px rgb(0 0 0 / 14%)" },
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: "xs" } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
    TextInput: { defaultProps: { size: "sm" } },
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: { "aria-label": "Show what is typed" } } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false, multiline: true, maw: 360 } },
    // Their heads would be landmarks beside that of the page.
    Modal: { defaultProps: { attributes: { header: { role: "presentation" } } } },
    Drawer: { defaultProps: { attributes: { header: { role: "presentation" } } } },
    Menu: { defaultProps: { shadow: "md", withinPortal: true } },
    Table: { defaultProps: { verticalSpacing: 6 } },
  },
});

/** Names of our tokens (theme.css) for what Mantine colours by itself. */
export const variables: CSSVariablesResolver = () => {
  const both = {
    "--mantine-color-body": "var(--surface)",
    "--mantine-color-text": "var(--text)",
    "--mantine-color-dimmed": "var(--dim)",
    "--mantine-color-placeholder": "var(--dim)",
    "--mantine-color-default-border": "var(--line-strong)",
    "--mantine-color-anchor": "var(--accent-text)",
    "--mantine-color-error": "var(--red)",
  };
  return { variables: {}, light: both, dark: both };
};
