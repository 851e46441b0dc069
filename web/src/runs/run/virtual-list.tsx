import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button';
import s from './run.module.css';

interface VirtualListProps {
  label: string;
  count: number;
  /** Changes with every addition. */
  version: number;
  estimate: number;
  keyOf: (index: number) => number;
  children: (index: number) => ReactNode;
}

const nearEndPx = 60;

/** A long list that grows at its end: it follows the end while a person is there, and stays where it is otherwise. */
export function VirtualList({ label, count, version, estimate, keyOf, children }: VirtualListProps) {
  const element = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => element.current,
    estimateSize: () => estimate,
    getItemKey: keyOf,
    overscan: 12,
  });
  const toEnd = () => rows.scrollToIndex(count - 1, { align: 'end' });
  useEffect(() => {
    if (atEnd && count > 0) {
      toEnd();
    }
  }, [version, count]);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = element.current ?? {
      scrollTop: 0,
      scrollHeight: 0,
      clientHeight: 0,
    };
    setAtEnd(scrollHeight - scrollTop - clientHeight < nearEndPx);
  };
  return (
    <div className={s.listFrame}>
      <div
        ref={element}
        className={s.list}
        onScroll={onScroll}
        tabIndex={0}
        role="log"
        aria-label={label}
        aria-live="off"
      >
        <div className={s.listInner} style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => (
            <div
              key={row.key}
              ref={rows.measureElement}
              data-index={row.index}
              className={s.row}
              style={{ transform: `translateY(${row.start}px)` }}
            >
              {children(row.index)}
            </div>
          ))}
        </div>
      </div>
      {atEnd || count === 0 ? null : (
        <Button small icon="down" className={s.toEnd} onClick={toEnd}>
          Newest
        </Button>
      )}
    </div>
  );
}
