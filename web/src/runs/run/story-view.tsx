import { memo } from 'react';
import { Icon } from '../../ui/icon';
import { Markdown } from '../../ui/markdown';
import { Ago, duration } from '../../ui/time';
import type { EventLog } from './event-log';
import s from './run.module.css';
import type { Part } from './story';
import { VirtualList } from './virtual-list';

function Call({ part }: { part: Extract<Part, { kind: 'call' }> }) {
  const ms = part.endedAt === undefined ? undefined : Date.parse(part.endedAt) - Date.parse(part.at);
  const tone = part.state === 'failed' ? 'red' : part.state === 'running' ? 'blue' : 'green';
  return (
    <details className={s.call}>
      <summary>
        <span className={`tone ${tone}`}>
          <Icon name={part.state === 'failed' ? 'alert' : part.state === 'running' ? 'spinner' : 'check'} size={14} />
        </span>
        <Icon name="tool" size={14} />
        <span className="mono cut grow">{part.name}</span>
        <span className="meta num">{ms === undefined ? 'running' : duration(ms)}</span>
        {part.state === 'failed' ? <span className="tone red meta">failed</span> : null}
      </summary>
      {part.input === '' ? null : <pre tabIndex={0}>{part.input}</pre>}
      {part.output === '' ? null : <pre tabIndex={0}>{part.output}</pre>}
    </details>
  );
}

const PartView = memo(function PartView({ part }: { part: Part }) {
  switch (part.kind) {
    case 'words':
      return (
        <div className={part.by === 'operator' ? `${s.words} ${s.operator}` : s.words}>
          <span className="meta row">
            <Icon name={part.by === 'operator' ? 'person' : 'agent'} size={14} />
            {part.by === 'operator' ? 'Operator' : 'Agent'} · <Ago at={part.at} />
          </span>
          <Markdown text={part.text} />
        </div>
      );
    case 'thought':
      return (
        <details className={s.call}>
          <summary>
            <Icon name="think" size={14} />
            <span className="cut grow meta">Thought: {part.text}</span>
          </summary>
          <p className={s.thought}>{part.text}</p>
        </details>
      );
    case 'call':
      return <Call part={part} />;
    case 'files':
      return (
        <div className={s.line}>
          <Icon name="file" size={14} />
          <span className="grow">
            {part.files.map(({ path, status }) => (
              <span key={path} className={s.file} title={status}>
                <code>{path}</code>
              </span>
            ))}
          </span>
        </div>
      );
    case 'progress':
      return (
        <div className={s.line}>
          <Icon name="right" size={14} />
          <span className="grow">{part.text}</span>
          {part.percent === undefined ? null : <span className="meta num">{Math.round(part.percent)} %</span>}
        </div>
      );
    case 'mark':
      return (
        <div className={`${s.line} ${s.markLine}`}>
          <span className={`tone ${part.tone} row`}>
            <Icon name={part.icon} size={14} />
            {part.text}
          </span>
          <span className="grow cut">{part.detail}</span>
          <span className="meta">
            <Ago at={part.at} />
          </span>
        </div>
      );
  }
});

/** What happened in a run: words, tool calls, files, progress, approvals and checkpoints. */
export function StoryView({ log }: { log: EventLog }) {
  const { parts } = log.story;
  return (
    <VirtualList
      label="Story of the run"
      count={parts.length}
      version={log.version}
      estimate={38}
      keyOf={(index) => parts[index]?.key ?? index}
    >
      {(index) => {
        const part = parts[index];
        return part ? <PartView part={part} /> : null;
      }}
    </VirtualList>
  );
}
