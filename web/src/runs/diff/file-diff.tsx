import { useQuery } from '@tanstack/react-query';
import { Fragment, memo, useEffect, useMemo, useRef, useState } from 'react';
import type { DiffFile, FileDiff, LineComment } from '../../api/client';
import { Button } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { Badge, Problem } from '../../ui/parts';
import { fileDiffQuery } from '../queries';
import { CommentForm, CommentThread } from './comments';
import s from './diff.module.css';
import { highlight } from './highlight';
import { type Anchor, anchorKey, anchorOf, splitRows, unifiedRows } from './lines';

type Line = FileDiff['hunks'][number]['lines'][number];

const Code = memo(function Code({ line, language }: { line: Line | undefined; language: string }) {
  if (!line) {
    return <td className={s.absent} />;
  }
  return (
    <td className={`${s.code} ${s[line.type] ?? ''}`}>
      <span className="sr">{line.type === 'add' ? 'added: ' : line.type === 'delete' ? 'deleted: ' : ''}</span>
      {highlight(line.content, language).map(([text, kind], index) =>
        kind === '' ? (
          text
        ) : (
          <span key={index} className={s[`t-${kind}`]}>
            {text}
          </span>
        ),
      )}
    </td>
  );
});

interface NumberProps {
  line: Line | undefined;
  side: 'old' | 'new';
  path: string;
  onComment: ((anchor: Anchor) => void) | undefined;
}

function LineNumber({ line, side, path, onComment }: NumberProps) {
  const number = side === 'old' ? line?.oldNumber : line?.newNumber;
  const anchor = line && anchorOf(path, line);
  const mine = anchor !== undefined && anchor.side === side;
  return (
    <td className={s.number}>
      {number === undefined ? null : mine && onComment ? (
        <button type="button" aria-label={`Comment on line ${number}`} onClick={() => onComment(anchor)}>
          {number}
        </button>
      ) : (
        number
      )}
    </td>
  );
}

interface LinesProps {
  taskId: string;
  attemptId: string | undefined;
  file: FileDiff;
  comments: readonly LineComment[];
  split: boolean;
  mayComment: boolean;
}

/** So many rows of a file are drawn at first: more are there on demand. */
const firstRows = 1_500;

function Lines({ taskId, attemptId, file, comments, split, mayComment }: LinesProps) {
  const [anchor, setAnchor] = useState<Anchor>();
  const [shown, setShown] = useState(firstRows);
  const rows = useMemo(() => (split ? splitRows(file) : unifiedRows(file)), [split, file]);
  const byLine = useMemo(() => Map.groupBy(comments, anchorKey), [comments]);
  const width = split ? 4 : 3;
  const onComment = mayComment ? setAnchor : undefined;
  const placed = new Set<string>();

  const below = (lines: (Line | undefined)[]) => {
    const keys = lines.flatMap((line) => {
      const at = line && anchorOf(file.path, line);
      return at ? [anchorKey(at)] : [];
    });
    return [...new Set(keys)].map((key) => {
      placed.add(key);
      const thread = byLine.get(key);
      const isOpen = anchor !== undefined && anchorKey(anchor) === key;
      return thread || isOpen ? (
        <tr key={key}>
          <td colSpan={width} className={s.below}>
            {thread ? <CommentThread comments={thread} /> : null}
            {isOpen ? (
              <CommentForm taskId={taskId} attemptId={attemptId} anchor={anchor} onClose={() => setAnchor(undefined)} />
            ) : null}
          </td>
        </tr>
      ) : null;
    });
  };
  const table = (
    <table className={split ? `${s.lines} ${s.split}` : s.lines}>
      <colgroup>
        <col className={s.numberCol} />
        <col className={split ? undefined : s.numberCol} />
        {split ? <col className={s.numberCol} /> : null}
        <col />
      </colgroup>
      <tbody>
        {rows.slice(0, shown).map((row, index) => {
          if (row.kind === 'hunk') {
            return (
              <tr key={index} className={s.hunk}>
                <td colSpan={width}>{row.text}</td>
              </tr>
            );
          }
          const common = { path: file.path, onComment };
          return row.kind === 'line' ? (
            <Fragment key={index}>
              <tr>
                <LineNumber {...common} line={row.line} side="old" />
                <LineNumber {...common} line={row.line} side="new" />
                <Code line={row.line} language={file.language} />
              </tr>
              {below([row.line])}
            </Fragment>
          ) : (
            <Fragment key={index}>
              <tr>
                <LineNumber {...common} line={row.old} side="old" />
                <Code line={row.old} language={file.language} />
                <LineNumber {...common} line={row.new} side="new" />
                <Code line={row.new} language={file.language} />
              </tr>
              {below([row.old, row.new])}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
  const elsewhere = comments.filter((comment) => !placed.has(anchorKey(comment)));
  return (
    <>
      {elsewhere.length > 0 ? (
        <div className={s.below}>
          <p className="meta">On lines that are not a part of this diff, or on the file:</p>
          <CommentThread comments={elsewhere} />
        </div>
      ) : null}
      <div className="scroll-x" tabIndex={0} role="region" aria-label={`Lines of ${file.path}`}>
        {table}
      </div>
      {rows.length > shown ? (
        <div className={s.more}>
          <Button small onClick={() => setShown(shown + 4 * firstRows)}>
            Show more of {rows.length - shown} lines
          </Button>
        </div>
      ) : null}
    </>
  );
}

const cut = {
  'file-too-large': 'The file is too large to compare.',
  'too-many-lines': 'Some of its lines are not shown.',
};

interface FileProps extends Omit<LinesProps, 'file'> {
  file: DiffFile;
  open: boolean;
  onToggle: (path: string) => void;
}

const badge = { added: 'green', modified: 'blue', deleted: 'red', renamed: 'grey' } as const;

/** One file: its lines are read when it comes into sight. */
export const DiffFileView = memo(function DiffFileView({ file, open, onToggle, ...rest }: FileProps) {
  const element = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true),
      {
        rootMargin: '600px',
      },
    );
    if (element.current) {
      observer.observe(element.current);
    }
    return () => observer.disconnect();
  }, []);
  const isText = !file.binary && file.submodule !== true;
  const query = useQuery({
    ...fileDiffQuery(rest.taskId, file.path, `${file.oldObject}-${file.newObject}`),
    enabled: seen && open && isText,
  });
  return (
    <section ref={element} className={`panel ${s.file}`} id={`file-${file.path}`} aria-label={file.path}>
      <header>
        <button type="button" className={s.toggle} aria-expanded={open} onClick={() => onToggle(file.path)}>
          <Icon name={open ? 'down' : 'right'} size={14} />
          <span className="mono cut">
            {file.oldPath && file.oldPath !== file.path ? `${file.oldPath} → ${file.path}` : file.path}
          </span>
        </button>
        <span className="grow" />
        <Badge tone={badge[file.status]}>{file.status}</Badge>
        <span className="meta num">
          <span className="tone green">+{file.additions}</span> <span className="tone red">−{file.deletions}</span>
        </span>
      </header>
      {!open ? null : !isText ? (
        <p className={s.plain}>{file.binary ? 'A binary file.' : 'A submodule.'}</p>
      ) : query.error ? (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data ? (
        <>
          {query.data.cut ? <p className={s.plain}>{cut[query.data.cut]}</p> : null}
          <Lines {...rest} file={query.data} />
        </>
      ) : (
        <div
          style={{ height: Math.min((file.additions + file.deletions + 6) * 20, 4_000) }}
          className={s.plain}
          role="status"
        >
          Loading …
        </div>
      )}
    </section>
  );
});
