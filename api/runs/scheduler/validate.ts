import type { SchedulerItemDetails } from '../../../contracts/runs/schedules/scheduler';
import type { Scheduled, SchedulerContext } from './items';

interface Issue {
  path: string;
  message: string;
}

/** Why the next run of an item would fail, or not come. */
export async function issuesOf(
  { agents, board, repositories }: Pick<SchedulerContext, 'agents' | 'board' | 'repositories'>,
  { kind, record }: Scheduled,
  { synchronized, nextRuns }: Pick<SchedulerItemDetails, 'synchronized' | 'nextRuns'>,
): Promise<Issue[]> {
  const issues: Issue[] = [];
  if (!synchronized) {
    issues.push({
      path: 'revision',
      message: 'its Schedule is not of this revision yet; workers reconcile it every minute',
    });
  } else if (nextRuns.length === 0) {
    issues.push({ path: 'schedule', message: 'never comes' });
  }
  const agent = kind === 'scheduled-deliverable' ? record.agent : record.launch.agent;
  const configured = (await agents.read()).agents.find(({ type }) => type === agent);
  if (agent !== undefined && configured?.enabled !== true) {
    issues.push({ path: 'agent', message: configured ? 'is disabled' : 'is no configured agent' });
  }
  if (kind === 'scheduled-deliverable') {
    const { repo } = record;
    if (repo !== undefined && !(await repositories.find(repo))) {
      issues.push({ path: 'repo', message: 'is no configured repository' });
    }
  } else if (!(await board.get(record.taskId))) {
    issues.push({ path: 'taskId', message: 'is no task of the board' });
  }
  return issues;
}
