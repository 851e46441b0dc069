import { memo } from 'react';
import type { RunEvent } from '../../api/client';
import type { EventLog } from './event-log';
import s from './run.module.css';
import { VirtualList } from './virtual-list';

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const maxShown = 4_000;

function lineOf({ payload }: RunEvent): string {
  const { text, message, data, ...rest } = payload;
  const words = [text, message, data].find((value): value is string => typeof value === 'string');
  const line = words === undefined || Object.keys(rest).length > 0 ? JSON.stringify(payload) : words;
  return line.length > maxShown ? `${line.slice(0, maxShown)} …` : line;
}

const Line = memo(function Line({ event }: { event: RunEvent }) {
  const tone = event.kind === 'stream.stderr' || /failed|error|refused/.test(event.kind) ? 'tone red' : undefined;
  return (
    <div className={s.logLine}>
      <span className="num">{event.sequence}</span>
      <time dateTime={event.receivedAt} title={event.receivedAt}>
        {clock.format(new Date(event.receivedAt))}
      </time>
      <span className={tone}>{event.kind}</span>
      <span>{lineOf(event)}</span>
    </div>
  );
});

/** Every event of a run as it was recorded. */
export function LogView({ log }: { log: EventLog }) {
  const { events } = log;
  return (
    <VirtualList
      label="Log of the run"
      count={events.length}
      version={log.version}
      estimate={22}
      keyOf={(index) => events[index]?.sequence ?? index}
    >
      {(index) => {
        const event = events[index];
        return event ? <Line event={event} /> : null;
      }}
    </VirtualList>
  );
}
