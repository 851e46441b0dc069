import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { board, type Schema, type Task, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { useMay } from '../app/session';
import { agentsQuery } from '../settings/queries';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { Problem } from '../ui/parts';
import type { Submission } from '../ui/submission';
import { toast } from '../ui/toast';

type LaunchRequest = Schema<'LaunchRequest'>;

const phases = ['explore', 'plan', 'implement', 'verify', 'publish'] as const;

/** The dialog that starts a run of an agent on a task. */
export function StartRun({ task, onClose }: { task: Task; onClose: () => void }) {
  const navigate = useNavigate();
  const mayConfigure = useMay()('settings:read');
  const { data: config } = useQuery({ ...agentsQuery, enabled: mayConfigure });
  const [agent, setAgent] = useState(task.agent ?? '');
  const [phase, setPhase] = useState('');
  const enabled = config?.agents.filter((each) => each.enabled) ?? [];
  const body: LaunchRequest = {
    ...(agent === '' ? {} : { agent }),
    ...(phase === '' ? {} : { phase: phase as (typeof phases)[number] }),
  };
  const start = useMutation({
    meta: { silent: true },
    mutationFn: () => unwrap(board.POST('/api/agents/{taskId}/start', { params: { path: { taskId: task.id } }, body })),
    onSuccess: (launched) => {
      void queryClient.invalidateQueries({ queryKey: keys.ofTask(task.id) });
      onClose();
      if (launched.status !== 'running') {
        toast('The run waits for capacity. The queue shows what limits it.', 'amber');
      }
      void navigate({
        to: '/tasks/$taskId/runs/$attemptId',
        params: { taskId: task.id, attemptId: launched.attemptId },
      });
    },
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    start.mutate();
  };
  return (
    <Dialog label="Start a run" onClose={onClose}>
      <form onSubmit={submit}>
        <h1>Start a run</h1>
        <p className="meta cut">{task.title}</p>
        {task.git?.repo ? null : (
          <p className="notice">
            <Icon name="info" />
            <span className="grow">
              The task has no repository. Set one in its details unless its agent needs none.
            </span>
          </p>
        )}
        <div className="row wrap">
          <label className="field grow">
            <span>Agent</span>
            <select className="input" autoFocus value={agent} onChange={(event) => setAgent(event.target.value)}>
              <option value="">Chosen by routing</option>
              {enabled.map(({ type, name }) => (
                <option key={type} value={type}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label className="field grow">
            <span>Phase</span>
            <select className="input" value={phase} onChange={(event) => setPhase(event.target.value)}>
              <option value="">Implement (usual)</option>
              {phases.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </div>
        {start.error ? <Problem error={start.error} /> : null}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" icon="play" busy={start.isPending}>
            Start
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
