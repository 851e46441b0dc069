import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { board, type TaskStatus, unwrap } from '../../api/client';
import { useMay } from '../../app/session';
import { reposQuery } from '../../settings/queries';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Problem } from '../../ui/parts';
import type { Submission } from '../../ui/submission';
import { toast } from '../../ui/toast';
import { storeTask } from '../change';
import { priorities, type Priority, priorityLabel, statuses, statusLabel } from '../status';

/** The dialog that makes a task. */
export function NewTask({ status: initial, onClose }: { status: TaskStatus; onClose: () => void }) {
  const navigate = useNavigate();
  const mayConfigure = useMay()('settings:read');
  const { data: repos = [] } = useQuery({ ...reposQuery, enabled: mayConfigure });
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const [status, setStatus] = useState(initial);
  const [priority, setPriority] = useState<Priority>('medium');
  const [chosen, setRepo] = useState<string>();
  const repo = chosen ?? (repos.length === 1 ? repos[0]?.name : undefined);
  const create = useMutation({
    meta: { silent: true },
    mutationFn: () =>
      unwrap(
        board.POST('/api/tasks', {
          body: {
            title: title.trim(),
            status,
            priority,
            ...(description.trim() === '' ? {} : { description }),
            ...(repo ? { git: { repo } } : {}),
          },
        }),
      ),
    onSuccess: (task) => {
      storeTask(task);
      onClose();
      toast(`Created “${task.title}”.`, 'green', {
        label: 'Open',
        run: () => void navigate({ to: '/tasks/$taskId', params: { taskId: task.id } }),
      });
    },
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    if (title.trim() !== '' && !create.isPending) {
      create.mutate();
    }
  };
  return (
    <Dialog label="New task" onClose={onClose}>
      <form onSubmit={submit}>
        <h1>New task</h1>
        <label className="field">
          <span>Title</span>
          <input
            className="input"
            autoFocus
            required
            maxLength={300}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Description</span>
          <textarea
            className="input"
            rows={6}
            placeholder="What is to be done, and how it is verified. Markdown."
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            onKeyDown={(event) => (event.metaKey || event.ctrlKey) && event.key === 'Enter' && submit(event)}
          />
        </label>
        <div className="row wrap">
          <label className="field grow">
            <span>Column</span>
            <select className="input" value={status} onChange={(event) => setStatus(event.target.value as TaskStatus)}>
              {statuses.map((name) => (
                <option key={name} value={name}>
                  {statusLabel[name]}
                </option>
              ))}
            </select>
          </label>
          <label className="field grow">
            <span>Priority</span>
            <select
              className="input"
              value={priority}
              onChange={(event) => setPriority(event.target.value as Priority)}
            >
              {priorities.map((name) => (
                <option key={name} value={name}>
                  {priorityLabel[name]}
                </option>
              ))}
            </select>
          </label>
          {repos.length > 0 ? (
            <label className="field grow">
              <span>Repository</span>
              <select className="input" value={repo ?? ''} onChange={(event) => setRepo(event.target.value)}>
                <option value="">None</option>
                {repos.map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          ) : null}
        </div>
        {create.error ? <Problem error={create.error} /> : null}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" busy={create.isPending}>
            Create
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
