import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { board, explain, unwrap } from '../../api/client';
import { Button } from '../../ui/button';
import { count } from '../../ui/figures';
import { Empty, Id, Loaded, Panel } from '../../ui/parts';
import { Ago } from '../../ui/time';
import { toast } from '../../ui/toast';
import { workflowRunsQuery, workflowsQuery } from './queries';
import { StatusBadge } from './status-badge';

function Start({ id }: { id: string }) {
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () => unwrap(board.POST('/api/workflows/{id}/runs', { params: { path: { id } }, body: {} })),
    onSuccess: (run) => navigate({ to: '/workflows/runs/$runId', params: { runId: run.id } }),
    onError: (error) => toast(explain(error), 'red'),
  });
  return (
    <Button small icon="play" busy={start.isPending} aria-label={`Start ${id}`} onClick={() => start.mutate()}>
      Start
    </Button>
  );
}

/** Workflows with their versions, and their runs, newest first. */
export function WorkflowsView() {
  const workflows = useQuery(workflowsQuery);
  const runs = useQuery(workflowRunsQuery);
  return (
    <div className="view">
      <header>
        <h1 className="grow">Workflows</h1>
      </header>
      <Panel title="Runs" flush>
        <Loaded query={runs} what="runs">
          {(list) =>
            list.length === 0 ? (
              <Empty icon="workflows" title="No workflow has run yet" />
            ) : (
              <ul className="rows">
                {list.map((run) => (
                  <li key={run.id} className="row wrap">
                    <StatusBadge status={run.status} />
                    <Link to="/workflows/runs/$runId" params={{ runId: run.id }}>
                      {run.workflowId}
                    </Link>
                    <Id id={run.id} />
                    <span className="meta grow">{run.currentStep === null ? '' : `at ${run.currentStep}`}</span>
                    <span className="meta">
                      <Ago at={run.createdAt} />
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Panel>
      <Panel title="Definitions" flush>
        <Loaded query={workflows} what="workflows">
          {(list) =>
            list.length === 0 ? (
              <Empty icon="workflows" title="No workflow is defined">
                <span>Write one as YAML, and store it with: runboard workflow new file.yaml</span>
              </Empty>
            ) : (
              <ul className="rows">
                {list.map(({ id, name, version, steps, rights }) => (
                  <li key={id} className="row wrap">
                    <strong>{name}</strong>
                    <span className="mono meta">{id}</span>
                    <span className="meta grow">
                      version {version}, {count(steps, 'step')}
                    </span>
                    {rights.execute ? <Start id={id} /> : null}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Panel>
    </div>
  );
}
