import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { board, type Task, unwrap } from '../../api/client';
import { useMay } from '../../app/session';
import { IconButton } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { Panel } from '../../ui/parts';
import { dependenciesQuery, tasksQuery } from '../queries';
import { statusIcon, statusLabel, statusTone } from '../status';
import s from './task.module.css';
import { useTaskAction } from './use-action';

function Node({ task, onRemove }: { task: Task; onRemove: (() => void) | undefined }) {
  return (
    <li className="row">
      <span className={`tone ${statusTone[task.status]} row`} title={statusLabel[task.status]}>
        <Icon name={statusIcon[task.status]} size={14} />
        <span className="sr">{statusLabel[task.status]}</span>
      </span>
      <Link to="/tasks/$taskId" params={{ taskId: task.id }} className="cut grow">
        {task.title}
      </Link>
      {onRemove ? (
        <IconButton small icon="close" label={`Remove the dependency with ${task.title}`} onClick={onRemove} />
      ) : null}
    </li>
  );
}

/** What a task waits for and what waits for it, as a small graph from left to right. */
export function Dependencies({ task }: { task: Task }) {
  const mayWrite = useMay()('task:write');
  const { data } = useQuery(dependenciesQuery(task.id));
  const { data: tasks = [] } = useQuery(tasksQuery);
  const action = useTaskAction(task.id);
  const taskId = task.id;
  const add = (dependsOn: string) =>
    action.mutate(() =>
      unwrap(
        board.POST('/api/tasks/{taskId}/dependencies', {
          params: { path: { taskId } },
          body: { depends_on: dependsOn },
        }),
      ),
    );
  const remove = (targetId: string) =>
    action.mutate(() =>
      unwrap(board.DELETE('/api/tasks/{taskId}/dependencies/{targetId}', { params: { path: { taskId, targetId } } })),
    );
  const before = data?.depends_on ?? [];
  const after = data?.blocks ?? [];
  const linked = new Set([taskId, ...before.map(({ id }) => id), ...after.map(({ id }) => id)]);
  return (
    <Panel title="Dependencies">
      <div className={s.graph}>
        <div>
          <h3>Waits for</h3>
          <ul>
            {before.map((each) => (
              <Node key={each.id} task={each} onRemove={mayWrite ? () => remove(each.id) : undefined} />
            ))}
          </ul>
          {before.length === 0 ? <p className="meta">Nothing</p> : null}
        </div>
        <span className={s.arrow} aria-hidden>
          <Icon name="right" />
        </span>
        <div>
          <h3>Blocks</h3>
          <ul>
            {after.map((each) => (
              <Node key={each.id} task={each} onRemove={mayWrite ? () => remove(each.id) : undefined} />
            ))}
          </ul>
          {after.length === 0 ? <p className="meta">Nothing</p> : null}
        </div>
      </div>
      {mayWrite ? (
        <select
          className="input"
          aria-label="Add a dependency"
          value=""
          onChange={(event) => event.target.value && add(event.target.value)}
        >
          <option value="">Wait for another task …</option>
          {tasks
            .filter(({ id, status }) => !linked.has(id) && status !== 'done')
            .slice(0, 300)
            .map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
        </select>
      ) : null}
    </Panel>
  );
}
