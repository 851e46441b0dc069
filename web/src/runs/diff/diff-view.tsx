import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import type { DiffFile, LineComment } from '../../api/client';
import { isRefusal } from '../../api/client';
import { useMay } from '../../app/session';
import { taskQuery } from '../../tasks/queries';
import { Button } from '../../ui/button';
import { count } from '../../ui/figures';
import { Icon } from '../../ui/icon';
import { useKeys } from '../../ui/keys';
import { Empty, Loaded, Panel } from '../../ui/parts';
import { diffQuery, lineCommentsQuery } from '../queries';
import s from './diff.module.css';
import { DiffFileView } from './file-diff';
import { ReviewBar } from './review-bar';

const route = getRouteApi('/shell/tasks/$taskId/diff');

const none: readonly LineComment[] = [];
/** A file with more lines is opened by hand. */
const manyLines = 3_000;

const show = (path: string | undefined): void => {
  const element = path === undefined ? null : document.getElementById(`file-${path}`);
  element?.scrollIntoView({ block: 'start' });
  element?.querySelector('button')?.focus({ preventScroll: true });
};

function Files({ files, comments }: { files: readonly DiffFile[]; comments: readonly LineComment[] }) {
  const open = Map.groupBy(
    comments.filter(({ state }) => state !== 'resolved'),
    ({ path }) => path,
  );
  return (
    <Panel title={count(files.length, 'file')} flush>
      <ul className={s.tree}>
        {files.map(({ path, additions, deletions }) => (
          <li key={path}>
            <button type="button" onClick={() => show(path)} title={path}>
              <span className={s.treePath}>
                <bdi>{path}</bdi>
              </span>
              {open.has(path) ? (
                <span className="row meta">
                  <Icon name="chat" size={12} />
                  {open.get(path)?.length}
                </span>
              ) : null}
              <span className="meta num">
                <span className="tone green">+{additions}</span> <span className="tone red">−{deletions}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** What a task changes, file by file: with comments on lines, and the decision on the result. */
export function DiffView() {
  const { taskId } = route.useParams();
  const mayComment = useMay()('comment:write');
  const task = useQuery(taskQuery(taskId));
  const diff = useQuery(diffQuery(taskId));
  const { data: comments = [] } = useQuery(lineCommentsQuery(taskId));
  const [split, setSplit] = useState(() => innerWidth > 1_500);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const onToggle = useCallback(
    (path: string) =>
      setToggled((present) => {
        const next = new Set(present);
        if (!next.delete(path)) {
          next.add(path);
        }
        return next;
      }),
    [],
  );
  const files = diff.data?.files ?? [];
  const step = (by: number) => {
    const present = document.activeElement?.closest('[id^="file-"]')?.id.slice('file-'.length);
    const index = files.findIndex(({ path }) => path === present);
    show(files[Math.min(Math.max(index + by, 0), files.length - 1)]?.path);
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
  const isOpen = (file: DiffFile) => file.additions + file.deletions <= manyLines !== toggled.has(file.path);
  const byPath = Map.groupBy(comments, ({ path }) => path);
  return (
    <div className={`view ${s.view}`}>
      <header className={s.head}>
        <Link to="/tasks/$taskId" params={{ taskId }} className="button plain small" aria-label="To the task">
          <Icon name="left" />
        </Link>
        <h1 className="grow cut">{task.data?.title ?? 'Diff'}</h1>
        <Button aria-pressed={split} onClick={() => setSplit(!split)}>
          {split ? 'Side by side' : 'Unified'}
        </Button>
        <ReviewBar taskId={taskId} comments={comments} />
      </header>
      {diff.error && isRefusal(diff.error, 404, 409) && !diff.data ? (
        <Empty icon="file" title="There is no diff">
          <span>{diff.error.message}</span>
        </Empty>
      ) : (
        <Loaded query={diff} what="the diff">
          {({ totalAdditions, totalDeletions, totalFiles }) =>
            totalFiles === 0 ? (
              <Empty icon="file" title="Nothing is changed">
                <span>The worktree is as its base.</span>
              </Empty>
            ) : (
              <div className={s.layout}>
                <div className={s.side}>
                  <p className="meta num">
                    {count(totalFiles, 'file')}: <span className="tone green">+{totalAdditions}</span>{' '}
                    <span className="tone red">−{totalDeletions}</span> {count(totalAdditions + totalDeletions, 'line')}
                  </p>
                  <Files files={files} comments={comments} />
                </div>
                <div className="stack">
                  {files.map((file) => (
                    <DiffFileView
                      key={file.path}
                      taskId={taskId}
                      attemptId={task.data?.review?.attemptId ?? task.data?.attempt?.id}
                      file={file}
                      comments={byPath.get(file.path) ?? none}
                      split={split}
                      mayComment={mayComment}
                      open={isOpen(file)}
                      onToggle={onToggle}
                    />
                  ))}
                </div>
              </div>
            )
          }
        </Loaded>
      )}
    </div>
  );
}
