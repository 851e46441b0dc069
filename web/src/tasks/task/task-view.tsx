import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { board, isRefusal, type Task, unwrap } from '../../api/client';
import { useForbidden } from '../../app/session';
import { startRun } from '../../runs/start-store';
import { Button, IconButton } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Icon } from '../../ui/icon';
import { useKeys } from '../../ui/keys';
import { Badge, Empty, Loaded } from '../../ui/parts';
import { toast } from '../../ui/toast';
import { useChangeTask, useDeleteTask } from '../change';
import { taskQuery } from '../queries';
import { runState, statusIcon, statusLabel, statusTone } from '../status';
import { Attachments } from './attachments';
import { Comments } from './comments';
import { Dependencies } from './dependencies';
import { Description } from './description';
import { Details } from './details';
import { Runs } from './runs';
import { Subtasks } from './subtasks';
import s from './task.module.css';
import { TimePanel } from './time-panel';

const route = getRouteApi('/shell/tasks/$taskId');

function Title({ task, disabled }: { task: Task; disabled: boolean }) {
  const { mutate } = useChangeTask();
  const [draft, setDraft] = useState<string>();
  const save = () => {
    const title = draft?.trim();
    if (title && title !== task.title) {
      mutate({ task, patch: { title } });
    }
    setDraft(undefined);
  };
  return draft === undefined ? (
    <h1 className={s.title}>
      <button type="button" disabled={disabled} title="Edit the title" onClick={() => setDraft(task.title)}>
        {task.title}
      </button>
    </h1>
  ) : (
    <input
      className={`input ${s.titleInput}`}
      aria-label="Title"
      autoFocus
      value={draft}
      maxLength={300}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') {
          save();
        }
        if (event.key === 'Escape') {
          setDraft(undefined);
        }
      }}
    />
  );
}

/** Takes a task off the board, where it waits or is stored. */
function Move({ task }: { task: Task }) {
  const navigate = useNavigate();
  const forbidden = useForbidden()('task:write');
  const { id: taskId, status, title } = task;
  const move = useMutation({
    mutationFn: (to: '/archive' | '/backlog'): Promise<unknown> =>
      to === '/archive'
        ? unwrap(board.POST('/api/tasks/{taskId}/archive', { params: { path: { taskId } } }))
        : unwrap(board.POST('/api/backlog/bulk-demote', { body: { taskIds: [taskId] } })),
    onSuccess: (_done, to) => {
      toast(to === '/archive' ? `Archived ${title}.` : `${title} is in the backlog.`, 'green');
      void navigate({ to });
    },
  });
  return status === 'done' ? (
    <Button why={forbidden} busy={move.isPending} onClick={() => move.mutate('/archive')}>
      Archive
    </Button>
  ) : (
    <Button why={forbidden} busy={move.isPending} onClick={() => move.mutate('/backlog')}>
      To the backlog
    </Button>
  );
}

function Head({ task }: { task: Task }) {
  const navigate = useNavigate();
  const forbidden = useForbidden();
  const { mutate: remove } = useDeleteTask();
  const [deleting, setDeleting] = useState(false);
  const isActive = task.attempt?.status === 'running' || task.attempt?.status === 'pending';
  const whyStart = isActive ? 'A run is under way.' : forbidden('agent:write');
  const state = runState(task);
  const attempt = task.attempt;
  useKeys({
    s: whyStart === undefined ? () => startRun.set(task) : undefined,
    d: () => void navigate({ to: '/tasks/$taskId/diff', params: { taskId: task.id } }),
  });
  return (
    <header>
      <Link to="/" className="button plain small" aria-label="To the board">
        <Icon name="left" />
      </Link>
      <Title task={task} disabled={forbidden('task:write') !== undefined} />
      <Badge tone={statusTone[task.status]} icon={statusIcon[task.status]}>
        {statusLabel[task.status]}
      </Badge>
      {state && attempt ? (
        <Link to="/tasks/$taskId/runs/$attemptId" params={{ taskId: task.id, attemptId: attempt.id }}>
          <Badge tone={state.tone} icon={state.icon}>
            {state.label}
          </Badge>
        </Link>
      ) : null}
      {attempt ? (
        <Link to="/tasks/$taskId/diff" params={{ taskId: task.id }} className="button">
          <Icon name="review" /> {task.review?.state === 'pending' ? 'Review' : 'Diff'}
        </Link>
      ) : null}
      <Button tone="primary" icon="play" why={whyStart} onClick={() => startRun.set(task)}>
        Start a run
      </Button>
      <Move task={task} />
      {forbidden('task:write') === undefined ? (
        <IconButton icon="trash" label="Delete the task" onClick={() => setDeleting(true)} />
      ) : null}
      {deleting ? (
        <Dialog label="Delete the task" onClose={() => setDeleting(false)}>
          <div className="body">
            <h1>Delete the task?</h1>
            <p>It leaves the board with its comments and attachments. It can be restored for 30 days.</p>
            <footer>
              <Button onClick={() => setDeleting(false)}>Cancel</Button>
              <Button
                tone="danger"
                icon="trash"
                onClick={() =>
                  remove(task, { onSuccess: () => void navigate({ to: '/' }), onSettled: () => setDeleting(false) })
                }
              >
                Delete
              </Button>
            </footer>
          </div>
        </Dialog>
      ) : null}
    </header>
  );
}

/** One task: what is to be done, what it depends on, what was talked about, and its runs. */
export function TaskView() {
  const { taskId } = route.useParams();
  const query = useQuery(taskQuery(taskId));
  if (isRefusal(query.error, 404)) {
    return (
      <Empty icon="search" title="There is no such task on the board">
        <span>
          It may be in the <Link to="/archive">archive</Link>, in the <Link to="/backlog">backlog</Link>, or deleted.
        </span>
        <Link to="/">Go to the board</Link>
      </Empty>
    );
  }
  return (
    <Loaded query={query} what="the task">
      {(task) => (
        <div className="view">
          <Head task={task} />
          <div className="two">
            <div className="stack">
              <Description key={taskId} task={task} />
              <Subtasks task={task} />
              <Runs task={task} />
              <Comments task={task} />
            </div>
            <div className="stack">
              <Details task={task} />
              <Dependencies task={task} />
              <Attachments task={task} />
              <TimePanel task={task} />
            </div>
          </div>
        </div>
      )}
    </Loaded>
  );
}
