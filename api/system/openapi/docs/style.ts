/** The style of the pages: of the system's type, light and dark, one column on a telephone. */
export const style = `:root {
  color-scheme: light dark;
  --fg: light-dark(#1a1c21, #ececf0);
  --fg-2: light-dark(#565b66, #a5a9b4);
  --bg: light-dark(#ffffff, #0e0f12);
  --sunken: light-dark(#f0f0f2, #17181c);
  --line: light-dark(#d9dbe1, #2a2c33);
  --accent: light-dark(#4338ca, #a3a4fb);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto;
  max-width: 72rem;
  padding: 1.5rem;
  background: var(--bg);
  color: var(--fg);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
}
a { color: var(--accent); }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem; padding-top: 0.75rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.25rem 0 0.25rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
pre { padding: 0.75rem; overflow-x: auto; border-radius: 6px; background: var(--sunken); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--fg-2); font-weight: 600; }
ul.columns { columns: 16rem; padding-left: 1.2rem; }
.meta { color: var(--fg-2); }
.method { display: inline-block; min-width: 4.5em; font-weight: 700; }
@media (max-width: 40rem) {
  body { padding: 1rem; }
  td, th { display: block; border: 0; padding: 0; }
  tr { display: block; padding: 0.4rem 0; border-bottom: 1px solid var(--line); }
  thead { display: none; }
}
`;
