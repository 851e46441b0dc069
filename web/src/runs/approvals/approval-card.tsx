import { Link } from '@tanstack/react-router';
import type { RunApproval } from '../../api/client';
import { Badge, Id } from '../../ui/parts';
import { Ago } from '../../ui/time';
import type { Tone } from '../../ui/toast';
import s from './approvals.module.css';
import { Decide } from './decide';

const riskTone: Record<RunApproval['riskClass'], Tone> = { low: 'grey', medium: 'amber', high: 'red', critical: 'red' };

/** What an agent asks for: exactly the action, what it would reach, who asks, and until when. */
export function ApprovalCard({ approval }: { approval: RunApproval }) {
  const { taskId, attemptId } = approval;
  const isPending = approval.status === 'pending';
  return (
    <article className={s.card} aria-label={approval.action}>
      <header className="row wrap">
        <Badge tone={riskTone[approval.riskClass]} icon="alert">
          {approval.riskClass} risk
        </Badge>
        <Badge>{approval.actionClass}</Badge>
        <span className="grow" />
        <span className="meta">
          {isPending ? (
            <>
              expires <Ago at={approval.expiresAt} />
            </>
          ) : (
            <>
              {approval.status} <Ago at={approval.updatedAt} />
              {approval.resolution ? ` by ${approval.resolution.actor.replace(/^\w+:/, '')}` : ''}
            </>
          )}
        </span>
      </header>
      <pre className={s.action} tabIndex={0}>
        {approval.action}
      </pre>
      <dl className="facts">
        <dt>Asked by</dt>
        <dd>
          {approval.agentId} in{' '}
          <Link to="/tasks/$taskId/runs/$attemptId" params={{ taskId, attemptId }}>
            its run
          </Link>
          , <Ago at={approval.createdAt} />
        </dd>
        {approval.resourceScope.length > 0 ? (
          <>
            <dt>Would reach</dt>
            <dd className="mono">{approval.resourceScope.join(', ')}</dd>
          </>
        ) : null}
        {approval.workingDirectory ? (
          <>
            <dt>In folder</dt>
            <dd className="mono">{approval.workingDirectory}</dd>
          </>
        ) : null}
        <dt>Because</dt>
        <dd>{approval.policyReason}</dd>
        <dt>Hash</dt>
        <dd className="cut">
          <Id id={approval.actionHash} short={false} />
        </dd>
        {approval.resolution?.note ? (
          <>
            <dt>Note</dt>
            <dd>{approval.resolution.note}</dd>
          </>
        ) : null}
      </dl>
      {Object.keys(approval.details).length > 0 ? (
        <details>
          <summary className="meta">Details</summary>
          <pre className={s.details} tabIndex={0}>
            {JSON.stringify(approval.details, null, 2)}
          </pre>
        </details>
      ) : null}
      {isPending ? <Decide approval={approval} /> : null}
    </article>
  );
}
