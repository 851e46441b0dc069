/** What a stub waits for until the test lets it continue. */
export interface Gate<T> {
  wait: () => Promise<T>;
  open: () => void;
}

/** A stub that returns `result` once the test opens it. */
export function gate<T>(result: T): Gate<T> {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { wait: () => opened.then(() => result), open };
}
