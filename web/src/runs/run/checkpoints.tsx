import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Attempt, board, BoardError, type Schema, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { readAll } from '../../api/list';
import { queryClient } from '../../api/query-client';
import { useForbidden } from '../../app/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { count } from '../../ui/figures';
import { Loaded, Panel, Problem } from '../../ui/parts';
import { Ago } from '../../ui/time';
import { toast } from '../../ui/toast';
import { isLive } from '../attempt-state';

type Checkpoint = Schema<'WorkspaceCheckpoint'>;
type Decision = NonNullable<Schema<'WorkspaceRewindRequest'>['resolutions']>[number]['decision'];

const decisions: readonly [Decision, string][] = [
  ['accept', 'Take the file back'],
  ['reject', 'Leave the file, take its index entry back'],
  ['leave-untouched', 'Leave both'],
];

const checkpointsQuery = ({ taskId, id: attemptId }: Attempt) => ({
  queryKey: keys.checkpoints(taskId, attemptId),
  staleTime: 0,
  queryFn: () =>
    readAll(async (cursor) => {
      const query = { attemptId, limit: 100, ...(cursor === undefined ? {} : { cursor }) };
      const page = await unwrap(
        board.GET('/api/agents/{taskId}/workspace/checkpoints', { params: { path: { taskId }, query } }),
      );
      return { items: page.checkpoints, next: page.nextCursor };
    }),
});

/** The paths of a refusal that need a decision each. */
function conflictsOf(error: unknown): string[] {
  if (!(error instanceof BoardError) || error.code !== 'REWIND_CONFLICT') {
    return [];
  }
  const { paths } = error.details as { paths?: unknown };
  const all = Array.isArray(paths) ? (paths as unknown[]) : [];
  return all.flatMap((each) => {
    const path = typeof each === 'object' && each !== null && 'path' in each ? each.path : each;
    return typeof path === 'string' ? [path] : [];
  });
}

/** What is asked for stays the same request, through its approval, until the dialog is closed. */
function Rewind({ attempt, target, latest, onClose }: RewindProps) {
  const { taskId, id: attemptId } = attempt;
  const [requestId] = useState(() => crypto.randomUUID());
  const [chosen, setChosen] = useState<Record<string, Decision>>({});
  const [open, setOpen] = useState<string[]>([]);
  const rewind = useMutation({
    meta: { silent: true },
    mutationFn: () =>
      unwrap(
        board.POST('/api/agents/{taskId}/workspace/checkpoints/rewind', {
          params: { path: { taskId }, header: { 'Idempotency-Key': requestId } },
          body: {
            ...{ attemptId, requestId, targetCheckpointId: target.id, descendantCheckpointId: latest.id },
            resolutions: open.map((path) => ({ path, decision: chosen[path] ?? 'accept' })),
          },
        }),
      ),
    onSuccess: ({ status }) => {
      if (status === 'committed') {
        toast(`The worktree is as it was at checkpoint ${target.number}.`, 'green');
        onClose();
      }
      void queryClient.invalidateQueries({ queryKey: keys.approvals });
      void queryClient.invalidateQueries({ queryKey: keys.ofTask(taskId) });
    },
    onError: (error) => setOpen((former) => [...new Set([...former, ...conflictsOf(error)])]),
  });
  const waits = rewind.data?.status === 'approval-required';
  const isUndecided = conflictsOf(rewind.error).length > 0;
  return (
    <Dialog label="Rewind the worktree" onClose={onClose}>
      <div className="body">
        <h1>Rewind to checkpoint {target.number}?</h1>
        <p>
          Files, index and branch of the worktree become what they were then. What is there now is stored first, under
          refs/board/rewinds, and the agent is notified. It needs an approval, of exactly this change.
        </p>
        {open.map((path) => (
          <label key={path} className="field">
            <span className="mono">{path}</span>
            <select
              className="input"
              value={chosen[path] ?? 'accept'}
              disabled={waits}
              onChange={({ target: { value } }) => setChosen({ ...chosen, [path]: value as Decision })}
            >
              {decisions.map(([decision, label]) => (
                <option key={decision} value={decision}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        ))}
        {isUndecided ? (
          <p className="notice" role="alert">
            These files are not the agent’s alone: decide about each, then plan again.
          </p>
        ) : rewind.error ? (
          <Problem error={rewind.error} />
        ) : null}
        {waits ? (
          <p className="notice" role="status">
            <span className="grow">
              Planned. <Link to="/approvals">An administrator approves it</Link>; then it is done from here.
            </span>
          </p>
        ) : null}
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button tone="danger" icon="back" busy={rewind.isPending} onClick={() => rewind.mutate()}>
            {waits ? 'Rewind as approved' : 'Plan the rewind'}
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}

interface RewindProps {
  attempt: Attempt;
  target: Checkpoint;
  latest: Checkpoint;
  onClose: () => void;
}

/** The states of the worktree that were stored while a run worked, and the way back to one. */
export function Checkpoints({ attempt }: { attempt: Attempt }) {
  const query = useQuery(checkpointsQuery(attempt));
  const forbidden = useForbidden()('task:write');
  const [target, setTarget] = useState<Checkpoint>();
  const why = isLive(attempt) ? forbidden : 'Only the worktree of a run that is under way is rewound.';
  return (
    <Panel title="Checkpoints" flush>
      <Loaded query={query} what="checkpoints">
        {(all) => {
          const latest = all.at(-1);
          return (
            <>
              <ul className="rows">
                {all.length === 0 ? <li className="meta">None was made yet.</li> : null}
                {all.toReversed().map((checkpoint) => (
                  <li key={checkpoint.id} className="row wrap">
                    <strong className="num">{checkpoint.number}</strong>
                    <span className="meta grow">
                      {count(checkpoint.changes.length, 'change')}, <Ago at={checkpoint.createdAt} />
                    </span>
                    <Button
                      small
                      icon="back"
                      why={checkpoint === latest ? 'It is the newest: there is nothing to rewind.' : why}
                      aria-label={`Rewind to checkpoint ${checkpoint.number}`}
                      onClick={() => setTarget(checkpoint)}
                    >
                      Rewind
                    </Button>
                  </li>
                ))}
              </ul>
              {target && latest ? (
                <Rewind attempt={attempt} target={target} latest={latest} onClose={() => setTarget(undefined)} />
              ) : null}
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}
