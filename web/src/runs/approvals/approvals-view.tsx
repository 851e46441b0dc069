import { useQuery } from '@tanstack/react-query';
import type { RunApproval } from '../../api/client';
import { count } from '../../ui/figures';
import { Empty, Loaded } from '../../ui/parts';
import { ApprovalCard } from './approval-card';
import { approvalsQuery } from './queries';

const risks = ['critical', 'high', 'medium', 'low'];

/** The riskiest first, and among those the oldest. */
const byUrgency = (a: RunApproval, b: RunApproval): number =>
  risks.indexOf(a.riskClass) - risks.indexOf(b.riskClass) || a.createdAt.localeCompare(b.createdAt);

/** What somebody has to decide, and what was decided lately. */
export function ApprovalsView() {
  const query = useQuery(approvalsQuery);
  return (
    <div className="view">
      <header>
        <h1 className="grow">Approvals</h1>
      </header>
      <Loaded query={query} what="approvals">
        {(list) => {
          const pending = list.filter(({ status }) => status === 'pending').toSorted(byUrgency);
          const decided = list
            .filter(({ status }) => status !== 'pending')
            .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt))
            .slice(0, 20);
          return (
            <>
              {pending.length === 0 ? (
                <Empty icon="approvals" title="Nothing waits for a decision">
                  <span>What a run may not do by itself appears here, and the run waits.</span>
                </Empty>
              ) : (
                pending.map((approval) => <ApprovalCard key={approval.id} approval={approval} />)
              )}
              {decided.length > 0 ? (
                <details>
                  <summary className="meta">{count(decided.length, 'decided request')}</summary>
                  <div className="stack">
                    {decided.map((approval) => (
                      <ApprovalCard key={approval.id} approval={approval} />
                    ))}
                  </div>
                </details>
              ) : null}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}
