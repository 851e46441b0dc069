import { useQuery } from '@tanstack/react-query';
import { type Attempt, board, type Schema, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { money, tokens } from '../../ui/figures';
import { Id, Panel } from '../../ui/parts';
import { Ago, Elapsed } from '../../ui/time';
import { isLive } from '../attempt-state';
import type { Story } from './story';

interface FactsProps {
  attempt: Attempt;
  status: Schema<'RunStatus'> | undefined;
  story: Story;
}

/** The facts of a run, which grow while it goes on. */
export function Facts({ attempt, status, story }: FactsProps) {
  const { taskId, id } = attempt;
  const phase = useQuery({
    queryKey: [...keys.ofTask(taskId), 'phase', id],
    queryFn: () =>
      unwrap(board.GET('/api/agents/{taskId}/phase', { params: { path: { taskId }, query: { attemptId: id } } })),
    retry: false,
    enabled: attempt.state !== 'refused' && attempt.state !== 'queued',
  }).data;
  const ofThis = status?.attemptId === id ? status : undefined;
  const usage = attempt.usage ?? story.usage;
  const digest = ofThis?.runLaunchManifest?.digest;
  const current = phase?.evidence.phase ?? attempt.phase;
  return (
    <Panel title="Facts">
      <dl className="facts">
        <dt>Agent</dt>
        <dd>{attempt.agent}</dd>
        {story.model ? (
          <>
            <dt>Model</dt>
            <dd>{story.model}</dd>
          </>
        ) : null}
        <dt>Phase</dt>
        <dd>
          {current}
          {phase && phase.launchPhase !== current ? (
            <span className="meta"> (launched in {phase.launchPhase})</span>
          ) : null}
        </dd>
        <dt>Duration</dt>
        <dd>
          {attempt.startedAt ? (
            <Elapsed since={attempt.startedAt} until={attempt.endedAt} />
          ) : isLive(attempt) ? (
            'not started yet'
          ) : (
            'did not start'
          )}
        </dd>
        <dt>Tokens</dt>
        <dd className="num">
          {tokens(usage.inputTokens + usage.outputTokens)}
          <div className="meta">
            {tokens(usage.inputTokens)} in, {tokens(usage.outputTokens)} out
          </div>
        </dd>
        <dt>Cost</dt>
        <dd className="num">{money(usage.cost)}</dd>
        <dt>Commits</dt>
        <dd>{attempt.commitPolicy}</dd>
        <dt>Host</dt>
        <dd>{attempt.hostId ?? 'none yet'}</dd>
        <dt>Attempt</dt>
        <dd>
          <Id id={attempt.id} />
          {attempt.retryNumber > 0 ? <span className="meta"> retry {attempt.retryNumber}</span> : null}
        </dd>
        {digest ? (
          <>
            <dt>Contract</dt>
            <dd className="cut">
              <Id id={digest} />
            </dd>
          </>
        ) : null}
        <dt>Created</dt>
        <dd>
          <Ago at={attempt.createdAt} /> <span className="meta">by {attempt.createdBy.replace(/^\w+:/, '')}</span>
        </dd>
      </dl>
    </Panel>
  );
}
