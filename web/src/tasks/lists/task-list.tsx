import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { board, type Task, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { queryClient } from '../../api/query-client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { count } from '../../ui/figures';
import { Icon, type IconName } from '../../ui/icon';
import { Empty, Id, Loaded, Panel } from '../../ui/parts';
import { Ago } from '../../ui/time';
import { toast } from '../../ui/toast';
import { archiveQuery, backlogQuery, type ListQuery } from '../queries';
import { priorityLabel, statusLabel } from '../status';

interface Kind {
  title: string;
  icon: IconName;
  query: ListQuery;
  empty: string;
  next: string;
  /** The action that takes a task to the board. */
  action: string;
  toBoard: (taskId: string) => Promise<unknown>;
}

const backlog: Kind = {
  title: 'Backlog',
  icon: 'bookmark',
  query: backlogQuery,
  empty: 'The backlog is empty',
  next: 'A task goes here with “To the backlog” in its view.',
  action: 'To the board',
  toBoard: (taskId) => unwrap(board.POST('/api/backlog/{taskId}/promote', { params: { path: { taskId } } })),
};

const archive: Kind = {
  title: 'Archive',
  icon: 'folder',
  query: archiveQuery,
  empty: 'Nothing is archived',
  next: 'A task that is done goes here with “Archive” in its view.',
  action: 'Restore',
  toBoard: (taskId) => unwrap(board.POST('/api/tasks/{taskId}/restore', { params: { path: { taskId } } })),
};

function Row({ task, kind }: { task: Task; kind: Kind }) {
  const navigate = useNavigate();
  const forbidden = useForbidden()('task:write');
  const move = useMutation({
    mutationFn: () => kind.toBoard(task.id),
    onSuccess: () => {
      toast(`${task.title} is on the board.`, 'green');
      void navigate({ to: '/tasks/$taskId', params: { taskId: task.id } });
    },
    onSettled: () =>
      Promise.all(
        [keys.backlog, keys.archive, keys.tasks].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
      ),
  });
  const { id, title, description, priority, project, status, updatedAt } = task;
  return (
    <li>
      <div className="row wrap">
        <details className="grow">
          <summary>
            <strong>{title}</strong>
          </summary>
          <p className="prewrap">{description === '' ? 'It has no description.' : description}</p>
        </details>
        <span className="meta">
          {[statusLabel[status], priorityLabel[priority], project].filter(Boolean).join(' · ')}
        </span>
        <Id id={id} />
        <span className="meta">
          <Ago at={updatedAt} />
        </span>
        <Button
          small
          icon="board"
          why={forbidden}
          busy={move.isPending}
          aria-label={`${kind.action}: ${title}`}
          onClick={() => move.mutate()}
        >
          {kind.action}
        </Button>
      </div>
    </li>
  );
}

/** Tasks that are not on the board, newest change first, with the way back to it. */
function TaskList({ kind }: { kind: Kind }) {
  const query = useQuery(kind.query);
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  return (
    <div className="view">
      <header className="row wrap">
        <Link to="/" className="button plain small" aria-label="To the board">
          <Icon name="left" />
        </Link>
        <h1 className="grow">{kind.title}</h1>
        <input
          className="input"
          type="search"
          aria-label={`Search the ${kind.title.toLowerCase()}`}
          placeholder="Search"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </header>
      <Loaded query={query} what={kind.title.toLowerCase()}>
        {(tasks) => {
          const found = tasks.filter(({ title, description }) =>
            `${title} ${description}`.toLowerCase().includes(wanted),
          );
          return (
            <Panel title={count(found.length, 'task')} flush>
              {found.length === 0 ? (
                <Empty icon={kind.icon} title={tasks.length === 0 ? kind.empty : 'No task has these words'}>
                  <span>{kind.next}</span>
                </Empty>
              ) : (
                <ul className="rows">
                  {found.map((task) => (
                    <Row key={task.id} task={task} kind={kind} />
                  ))}
                </ul>
              )}
            </Panel>
          );
        }}
      </Loaded>
    </div>
  );
}

export const BacklogView = () => <TaskList kind={backlog} />;
export const ArchiveView = () => <TaskList kind={archive} />;
