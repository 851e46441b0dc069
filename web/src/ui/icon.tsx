/** Icons of 24 units with strokes of 2, drawn in the colour of the text. */
const paths = {
  board: 'M4 4h4v16H4zM10 4h4v10h-4zM16 4h4v6h-4z',
  queue: 'M4 6h16M4 12h10M4 18h6',
  approvals: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4',
  workflows: 'M6 3v6M6 15v6M18 9v6M6 9h6a6 6 0 0 1 6 6M4 3h4M4 21h4M16 9h4',
  fleet: 'M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01',
  metrics: 'M4 20V4M4 20h16M8 16l4-5 3 3 5-7',
  chat: 'M4 5h16v11H9l-5 4z',
  audit: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M14 5v4M8 15v4',
  search: 'M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16 16l4 4',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12l5 5 9-10',
  play: 'M7 4l12 8-12 8z',
  stop: 'M6 6h12v12H6z',
  clock: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM12 8v4l3 2',
  spinner: 'M12 4a8 8 0 1 1-8 8',
  alert: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  info: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM12 11v5M12 8h.01',
  blocked: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM6.5 6.5l11 11',
  circle: 'M12 5a7 7 0 1 1 0 14 7 7 0 0 1 0-14z',
  half: 'M12 5a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM12 5v14',
  done: 'M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM8 12l3 3 5-6',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  move: 'M8 7l-4 5 4 5M16 7l4 5-4 5M4 12h16',
  person: 'M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM5 20c0-4 3-6 7-6s7 2 7 6',
  agent: 'M6 8h12v10H6zM12 8V4M9 12h.01M15 12h.01M10 15h4M3 12v3M21 12v3',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  folder: 'M3 6h7l2 2h9v11H3z',
  tool: 'M14 6a4 4 0 0 0 5 5l-9 9-4-4 9-9',
  terminal: 'M4 5h16v14H4zM7 9l3 3-3 3M12 15h5',
  bookmark: 'M7 4h10v16l-5-4-5 4z',
  link: 'M10 14l4-4M8 12l-2 2a3 3 0 0 0 4 4l2-2M16 12l2-2a3 3 0 0 0-4-4l-2 2',
  review: 'M4 5h16v12H11l-4 3v-3H4zM8 10h8M8 13h5',
  back: 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6',
  edit: 'M4 20l1-5L16 4l4 4L9 19zM14 6l4 4',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  attach: 'M8 12l6-6a3 3 0 0 1 4 4l-8 8a5 5 0 0 1-7-7l7-7',
  sun: 'M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5',
  moon: 'M19 14A8 8 0 1 1 10 5a6 6 0 0 0 9 9z',
  menu: 'M4 7h16M4 12h16M4 17h16',
  think: 'M12 4a6 6 0 0 1 4 10.5V18H8v-3.5A6 6 0 0 1 12 4zM10 21h4',
  low: 'M5 18h3M10.5 18h3M16 18h3',
  medium: 'M6 18v-4M12 18v-8',
  high: 'M6 18v-4M12 18v-8M18 18V6',
  critical: 'M12 4v9M12 18h.01',
  send: 'M4 12l16-8-6 16-3-6z',
  out: 'M10 5H5v14h5M14 8l4 4-4 4M18 12H9',
  wifi: 'M3 9a14 14 0 0 1 18 0M6 13a9 9 0 0 1 12 0M9.5 16.5a4 4 0 0 1 5 0M12 20h.01',
} as const;

export type IconName = keyof typeof paths;

/** An icon beside a word: it has no name of its own. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      className={name === 'spinner' ? 'spin' : undefined}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
      focusable={false}
    >
      <path d={paths[name]} />
    </svg>
  );
}
