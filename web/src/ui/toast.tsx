import { useEffect, useRef } from 'react';
import { IconButton } from './button';
import { Icon } from './icon';
import { createStore, useStore } from './store';

export type Tone = 'green' | 'amber' | 'red' | 'blue' | 'grey';

interface Toast {
  id: number;
  text: string;
  tone: Tone;
  action?: { label: string; run: () => void };
}

const toasts = createStore<Toast[]>([]);
let lastId = 0;
const shownMs = 7_000;

const dismiss = (id: number): void => toasts.set((list) => list.filter((item) => item.id !== id));

/** Shows a sentence for some seconds; a refusal stays twice as long. */
export function toast(text: string, tone: Tone = 'grey', action?: Toast['action']): void {
  lastId += 1;
  const id = lastId;
  toasts.set((list) => [...list.slice(-3), { id, text, tone, ...(action ? { action } : {}) }]);
  setTimeout(() => dismiss(id), tone === 'red' ? 2 * shownMs : shownMs);
}

/** The toasts, above open dialogs too. */
export function Toasts() {
  const list = useStore(toasts);
  const layer = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = layer.current;
    if (!element) {
      return;
    }
    // The latest popover is above every dialog that was opened before it.
    if (element.matches(':popover-open')) {
      element.hidePopover();
    }
    if (list.length > 0) {
      element.showPopover();
    }
  }, [list]);
  return (
    <div ref={layer} className="toasts" popover="manual" role="status" aria-live="polite">
      {list.map(({ id, text, tone, action }) => (
        <div key={id} className="toast">
          <span className={`tone ${tone}`}>
            <Icon name={tone === 'red' ? 'alert' : tone === 'green' ? 'check' : 'info'} />
          </span>
          <span className="grow">{text}</span>
          {action ? (
            <button type="button" className="button small" onClick={action.run}>
              {action.label}
            </button>
          ) : null}
          <IconButton icon="close" label="Dismiss" small onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
