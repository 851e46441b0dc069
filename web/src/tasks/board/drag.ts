import type { TaskStatus } from '../../api/client';
import { boardIsHeld } from '../../live/apply';
import { createStore } from '../../ui/store';

/** Where a card would be dropped: before the card at `index` of the column without the card itself. */
export interface Target {
  status: TaskStatus;
  index: number;
}

interface Drag {
  taskId: string;
  by: 'pointer' | 'keyboard';
  target: Target;
}

/** The card that is moved now. */
export const drag = createStore<Drag | undefined>(undefined);

drag.subscribe(() => boardIsHeld.set(drag.get() !== undefined));

/** What a column shows of itself while a card is over it. */
export interface DropZone {
  status: TaskStatus;
  element: HTMLElement;
  /** The index at a height of the window, counted without the card that is moved. */
  indexAt: (clientY: number) => number;
}

const zones = new Set<DropZone>();

export function registerZone(zone: DropZone): () => void {
  zones.add(zone);
  return () => zones.delete(zone);
}

const zoneAt = (clientX: number): DropZone | undefined =>
  [...zones].find(({ element }) => {
    const { left, right } = element.getBoundingClientRect();
    return clientX >= left && clientX < right;
  });

const thresholdPx = 5;
const edgePx = 56;
const stepPx = 14;
const longPressMs = 250;

interface Ghost {
  element: HTMLElement;
  dx: number;
  dy: number;
}

function ghostOf(card: HTMLElement, event: PointerEvent, className: string): Ghost {
  const { left, top, width } = card.getBoundingClientRect();
  const element = card.cloneNode(true) as HTMLElement;
  element.classList.add(className);
  element.setAttribute('aria-hidden', 'true');
  element.inert = true;
  element.style.width = `${width}px`;
  document.body.append(element);
  return { element, dx: event.clientX - left, dy: event.clientY - top };
}

/** The click that follows a drop opens nothing. */
function suppressClick(): void {
  const suppress = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener('click', suppress, { capture: true, once: true });
  setTimeout(() => removeEventListener('click', suppress, { capture: true }), 0);
}

interface PointerDrag {
  taskId: string;
  from: Target;
  ghostClass: string;
  onDrop: (target: Target) => void;
}

/** Follows a pointer that was pressed on a card: it is lifted when it moves, by touch after a moment. */
export function followPointer(
  start: PointerEvent,
  card: HTMLElement,
  { taskId, from, ghostClass, onDrop }: PointerDrag,
): void {
  const controller = new AbortController();
  const { signal } = controller;
  let ghost: Ghost | undefined;
  let last = start;
  let frame = 0;
  const isTouch = start.pointerType === 'touch';

  const place = () => {
    frame = 0;
    if (!ghost) {
      return;
    }
    ghost.element.style.transform = `translate(${last.clientX - ghost.dx}px, ${last.clientY - ghost.dy}px) rotate(1.5deg)`;
    const zone = zoneAt(last.clientX);
    if (!zone) {
      return;
    }
    const list = zone.element.getBoundingClientRect();
    const step = last.clientY < list.top + edgePx ? -stepPx : last.clientY > list.bottom - edgePx ? stepPx : 0;
    if (step !== 0) {
      zone.element.scrollTop += step;
      frame = requestAnimationFrame(place);
    }
    const index = zone.indexAt(last.clientY);
    drag.set((present) =>
      present && (present.target.status !== zone.status || present.target.index !== index)
        ? { ...present, target: { status: zone.status, index } }
        : present,
    );
  };
  const lift = () => {
    ghost = ghostOf(card, start, ghostClass);
    drag.set({ taskId, by: 'pointer', target: from });
    document.documentElement.classList.add('dragging');
    place();
  };
  const finish = (drop: boolean) => {
    controller.abort();
    clearTimeout(press);
    cancelAnimationFrame(frame);
    if (!ghost) {
      return;
    }
    ghost.element.remove();
    document.documentElement.classList.remove('dragging');
    const target = drag.get()?.target;
    drag.set(undefined);
    suppressClick();
    if (drop && target) {
      onDrop(target);
    }
  };
  const press = isTouch ? setTimeout(lift, longPressMs) : undefined;

  addEventListener(
    'pointermove',
    (event) => {
      last = event;
      if (!ghost) {
        const moved = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY);
        if (moved < thresholdPx) {
          return;
        }
        if (isTouch) {
          finish(false);
          return;
        }
        lift();
      }
      frame ||= requestAnimationFrame(place);
    },
    { signal },
  );
  addEventListener('pointerup', () => finish(true), { signal });
  addEventListener('pointercancel', () => finish(false), { signal });
  addEventListener('touchmove', (event) => ghost && event.preventDefault(), { signal, passive: false });
  addEventListener(
    'keydown',
    (event) => {
      if (event.key === 'Escape') {
        event.preventDefault();
        finish(false);
      }
    },
    { signal, capture: true },
  );
}
