import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { board, explain, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { useMay } from '../../app/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Id, Loaded, Panel } from '../../ui/parts';
import { Ago, duration } from '../../ui/time';
import { toast } from '../../ui/toast';
import { drawingQuery, isUnderWay, type WorkflowRun, workflowRunQuery, type WorkflowStep } from './queries';
import { StatusBadge } from './status-badge';

/** The graph of the run, as a picture: markup of it becomes no part of the page. */
function Drawing({ run }: { run: WorkflowRun }) {
  const { data: svg } = useQuery(drawingQuery(run.id, run.revision));
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (svg === undefined) {
      return undefined;
    }
    const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [svg]);
  const states = run.steps.map(({ stepId, status }) => `${stepId} ${status}`).join(', ');
  return address === undefined ? null : (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Graph of the run">
      <img src={address} alt={`Graph: ${states}`} />
    </div>
  );
}

/** What a step asks, and the decision about it. */
function Question({ runId, step }: { runId: string; step: WorkflowStep }) {
  const queries = useQueryClient();
  const [comment, setComment] = useState('');
  const { stepId, name = stepId, question, approvalId } = step;
  const decide = useMutation({
    mutationFn: (decision: 'approve' | 'reject') => {
      const options = {
        params: { path: { runId, stepId } },
        body: comment.trim() === '' ? {} : { comment: comment.trim() },
      };
      return unwrap(
        decision === 'approve'
          ? board.POST('/api/workflows/runs/{runId}/steps/{stepId}/approve', options)
          : board.POST('/api/workflows/runs/{runId}/steps/{stepId}/reject', options),
      );
    },
    onError: (error) => toast(explain(error), 'red'),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.workflowRun(runId) }),
  });
  const why =
    approvalId === undefined
      ? undefined
      : `Its call of a tool waits for ${approvalId}, which an administrator reviews.`;
  return (
    <article className="stack" aria-label={`Question of ${name}`}>
      <p className="prewrap">{question ?? `${name} waits for a decision.`}</p>
      <label className="field">
        <span>Answer (later steps may use it)</span>
        <textarea
          className="input"
          rows={2}
          maxLength={4_000}
          value={comment}
          onChange={(event) => setComment(event.target.value)}
        />
      </label>
      <div className="row wrap">
        <Button tone="primary" icon="check" why={why} busy={decide.isPending} onClick={() => decide.mutate('approve')}>
          Approve
        </Button>
        <Button tone="danger" icon="close" why={why} busy={decide.isPending} onClick={() => decide.mutate('reject')}>
          Reject
        </Button>
      </div>
    </article>
  );
}

function Controls({ run }: { run: WorkflowRun }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [asks, setAsks] = useState(false);
  const path = { runId: run.id };
  const cancel = useMutation({
    mutationFn: () => unwrap(board.POST('/api/workflows/runs/{runId}/cancel', { params: { path } })),
    onError: (error) => toast(explain(error), 'red'),
    onSettled: () => {
      setAsks(false);
      return queries.invalidateQueries({ queryKey: keys.workflowRun(run.id) });
    },
  });
  const resume = useMutation({
    mutationFn: () => unwrap(board.POST('/api/workflows/runs/{runId}/resume', { params: { path }, body: {} })),
    onError: (error) => toast(explain(error), 'red'),
    onSuccess: ({ id }) => navigate({ to: '/workflows/runs/$runId', params: { runId: id } }),
  });
  return (
    <>
      <Button
        icon="back"
        busy={resume.isPending}
        why={run.status === 'failed' ? undefined : `Only a failed run is resumed; this one is ${run.status}.`}
        onClick={() => resume.mutate()}
      >
        Resume
      </Button>
      <Button
        icon="stop"
        why={isUnderWay(run) ? undefined : `It has ended: ${run.status}.`}
        onClick={() => setAsks(true)}
      >
        Cancel run
      </Button>
      {asks ? (
        <Dialog label="Cancel the run" onClose={() => setAsks(false)}>
          <div className="body">
            <h2>Cancel the run?</h2>
            <p>The agents of its steps are stopped. What they have committed stays; a cancelled run is not resumed.</p>
            <footer>
              <Button tone="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
                Cancel the run
              </Button>
              <Button onClick={() => setAsks(false)}>Let it run</Button>
            </footer>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}

/** A run of a workflow: what it asks, its graph in the colours of its steps, and the steps in words. */
export function WorkflowRunView() {
  const { runId } = useParams({ from: '/shell/workflows/runs/$runId' });
  const mayExecute = useMay()('workflow:execute');
  const query = useQuery(workflowRunQuery(runId));
  return (
    <div className="view">
      <Loaded query={query} what="the run">
        {(run) => {
          const waiting = run.steps.filter(({ status }) => status === 'blocked');
          return (
            <>
              <header className="row wrap">
                <h1>{run.workflowId}</h1>
                <StatusBadge status={run.status} />
                <Id id={run.id} />
                <span className="meta grow">
                  version {run.workflowVersion}, started by {run.startedBy} <Ago at={run.createdAt} />
                </span>
                {mayExecute ? <Controls run={run} /> : null}
              </header>
              {run.error === null ? null : (
                <p className="problem" role="alert">
                  {run.error}
                </p>
              )}
              {mayExecute && waiting.length > 0 ? (
                <Panel title="Waits for a decision">
                  {waiting.map((step) => (
                    <Question key={`${step.stepId} ${step.visits}`} runId={run.id} step={step} />
                  ))}
                </Panel>
              ) : null}
              <Panel title="Graph">
                <Drawing run={run} />
              </Panel>
              <Panel title="Steps" flush>
                <ul className="rows">
                  {run.steps.map((step) => (
                    <li key={step.stepId} className="row wrap">
                      <StatusBadge status={step.status} />
                      <strong>{step.name ?? step.stepId}</strong>
                      <span className="meta">{step.agent ? `${step.type}, ${step.agent}` : step.type}</span>
                      <span className="meta grow">{step.error ?? ''}</span>
                      <span className="meta num">{step.startedAt === null ? '' : duration(step.durationMs)}</span>
                    </li>
                  ))}
                </ul>
              </Panel>
            </>
          );
        }}
      </Loaded>
    </div>
  );
}
