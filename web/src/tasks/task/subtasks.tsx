import { useState } from 'react';
import { board, type Task, unwrap } from '../../api/client';
import { useMay } from '../../app/session';
import { IconButton } from '../../ui/button';
import { Panel } from '../../ui/parts';
import type { Submission } from '../../ui/submission';
import s from './task.module.css';
import { useTaskAction } from './use-action';

export function Subtasks({ task }: { task: Task }) {
  const mayWrite = useMay()('task:write');
  const [title, setTitle] = useState('');
  const action = useTaskAction(task.id);
  const taskId = task.id;
  const done = task.subtasks.filter(({ completed }) => completed).length;
  const add = (event: Submission) => {
    event.preventDefault();
    if (title.trim() !== '') {
      action.mutate(() =>
        unwrap(
          board.POST('/api/tasks/{taskId}/subtasks', { params: { path: { taskId } }, body: { title: title.trim() } }),
        ),
      );
      setTitle('');
    }
  };
  const complete = (subtaskId: string, completed: boolean) =>
    action.mutate(() =>
      unwrap(
        board.PATCH('/api/tasks/{taskId}/subtasks/{subtaskId}', {
          params: { path: { taskId, subtaskId } },
          body: { completed },
        }),
      ),
    );
  const remove = (subtaskId: string) =>
    action.mutate(() =>
      unwrap(board.DELETE('/api/tasks/{taskId}/subtasks/{subtaskId}', { params: { path: { taskId, subtaskId } } })),
    );
  if (task.subtasks.length === 0 && !mayWrite) {
    return null;
  }
  return (
    <Panel
      title="Subtasks"
      actions={
        task.subtasks.length > 0 ? (
          <span className="meta num">
            {done} of {task.subtasks.length} done
          </span>
        ) : undefined
      }
    >
      <ul>
        {task.subtasks.map((subtask) => (
          <li key={subtask.id} className={s.subtask}>
            <label className="row grow">
              <input
                type="checkbox"
                checked={subtask.completed}
                disabled={!mayWrite}
                onChange={(event) => complete(subtask.id, event.target.checked)}
              />
              <span className={subtask.completed ? s.struck : undefined}>{subtask.title}</span>
            </label>
            {mayWrite ? (
              <IconButton small icon="trash" label={`Delete ${subtask.title}`} onClick={() => remove(subtask.id)} />
            ) : null}
            {(subtask.acceptanceCriteria ?? []).map((criterion, index) => (
              <p key={criterion} className={`meta ${s.criterion}`}>
                {subtask.criteriaChecked?.[index] === true ? '☑' : '☐'} {criterion}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {mayWrite ? (
        <form onSubmit={add}>
          <input
            className="input"
            aria-label="New subtask"
            placeholder="Add a subtask, then Enter"
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
        </form>
      ) : null}
    </Panel>
  );
}
