import { useEffect, useRef } from 'react';

export type Keys = Record<string, ((event: KeyboardEvent) => void) | undefined>;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Runs what belongs to a key while the view is shown; not while a person types, nor behind a dialog. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) {
        return;
      }
      if (document.querySelector('dialog[open]')) {
        return;
      }
      const run = latest.current[event.key];
      if (run) {
        event.preventDefault();
        run(event);
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
