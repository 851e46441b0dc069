import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type PointerEvent, type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import type { Task, TaskStatus } from '../../api/client';
import { IconButton } from '../../ui/button';
import { number } from '../../ui/figures';
import { Icon } from '../../ui/icon';
import { statusIcon, statusLabel, statusTone } from '../status';
import s from './board.module.css';
import { Card } from './card';
import { followPointer, registerZone, type Target } from './drag';
import { newTask } from './new-task-store';

/** What the board calls on a column. */
export interface ColumnHandle {
  show: (index: number) => void;
}

interface ColumnProps {
  status: TaskStatus;
  tasks: readonly Task[];
  /** The card that is moved, when it is from this column. */
  moved: string | undefined;
  /** Where the card that is moved would be dropped in this column. */
  dropAt: number | undefined;
  isFiltered: boolean;
  /** Whether the caller may change tasks. */
  mayWrite: boolean;
  onDrop: (taskId: string, target: Target) => void;
  ref: Ref<ColumnHandle>;
}

const usualHeightPx = 84;
const gapPx = 8;

const nothing: Record<TaskStatus, string> = {
  todo: 'What is to be done comes here.',
  'in-progress': 'A task comes here when its run starts.',
  blocked: 'Nothing is blocked.',
  done: 'Nothing is done yet.',
};

export const Column = memo(function Column({
  status,
  tasks,
  moved,
  dropAt,
  isFiltered,
  mayWrite,
  onDrop,
  ref,
}: ColumnProps) {
  const list = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => list.current,
    estimateSize: () => usualHeightPx,
    getItemKey: (index) => tasks[index]?.id ?? index,
    overscan: 6,
    gap: gapPx,
    paddingStart: gapPx,
    paddingEnd: gapPx,
  });
  useImperativeHandle(ref, () => ({ show: (index) => rows.scrollToIndex(index, { align: 'auto' }) }), [rows]);

  const latest = useRef({ tasks, moved });
  latest.current = { tasks, moved };
  useEffect(() => {
    const element = list.current;
    if (!element) {
      return undefined;
    }
    return registerZone({
      status,
      element,
      indexAt: (clientY) => {
        const y = clientY - element.getBoundingClientRect().top + element.scrollTop;
        const movedIndex = latest.current.tasks.findIndex(({ id }) => id === latest.current.moved);
        // Every row above the pointer's middle comes before the card, itself aside.
        const below = rows.measurementsCache.findIndex(({ start, size }) => y < start + size / 2);
        const index = below < 0 ? latest.current.tasks.length : below;
        return movedIndex >= 0 && movedIndex < index ? index - 1 : index;
      },
    });
  }, [status, rows]);

  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    const card = (event.target as HTMLElement).closest<HTMLElement>('[data-card]');
    const taskId = card?.dataset.card;
    if (!mayWrite || !card || taskId === undefined || event.button !== 0) {
      return;
    }
    const index = tasks.findIndex(({ id }) => id === taskId);
    followPointer(event.nativeEvent, card, {
      taskId,
      from: { status, index },
      ghostClass: s.ghost ?? 'ghost',
      onDrop: (target) => onDrop(taskId, target),
    });
  };

  const movedIndex = moved === undefined ? -1 : tasks.findIndex(({ id }) => id === moved);
  const markAt = dropAt === undefined ? undefined : movedIndex >= 0 && dropAt >= movedIndex ? dropAt + 1 : dropAt;
  const markTop =
    markAt === undefined
      ? undefined
      : (rows.measurementsCache[markAt]?.start ?? rows.measurementsCache.at(-1)?.end ?? gapPx) - gapPx / 2;

  return (
    <section className={dropAt === undefined ? s.column : `${s.column} ${s.over}`} aria-label={statusLabel[status]}>
      <header className={s.head}>
        <span className={`tone ${statusTone[status]} row`}>
          <Icon name={statusIcon[status]} />
        </span>
        <h2>{statusLabel[status]}</h2>
        <span className="meta num" aria-label={`${tasks.length} tasks`}>
          {number(tasks.length)}
        </span>
        <span className="grow" />
        {mayWrite ? (
          <IconButton
            small
            icon="plus"
            label={`New task in ${statusLabel[status]}`}
            onClick={() => newTask.set({ status })}
          />
        ) : null}
      </header>
      <div ref={list} className={s.list} onPointerDown={onPointerDown} data-column={status}>
        {tasks.length === 0 ? (
          <p className={s.none}>{isFiltered ? 'No task here matches.' : nothing[status]}</p>
        ) : (
          <ul className={s.cards} style={{ height: rows.getTotalSize() }}>
            {rows.getVirtualItems().map((row) => {
              const task = tasks[row.index];
              return task ? (
                <li
                  key={row.key}
                  ref={rows.measureElement}
                  data-index={row.index}
                  aria-setsize={tasks.length}
                  aria-posinset={row.index + 1}
                  style={{ transform: `translateY(${row.start}px)` }}
                >
                  <Card task={task} moved={task.id === moved} />
                </li>
              ) : null;
            })}
          </ul>
        )}
        {markTop === undefined ? null : <div className={s.mark} style={{ top: markTop }} />}
      </div>
    </section>
  );
});
