import { useQuery } from '@tanstack/react-query';
import { ApprovalCard } from './approval-card';
import { approvalsQuery } from './queries';

/** What a run waits for a person to decide. */
export function WaitingApprovals({ attemptId }: { attemptId: string }) {
  const { data = [] } = useQuery(approvalsQuery);
  return data
    .filter((approval) => approval.attemptId === attemptId && approval.status === 'pending')
    .map((approval) => <ApprovalCard key={approval.id} approval={approval} />);
}
