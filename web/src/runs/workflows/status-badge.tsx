import type { IconName } from '../../ui/icon';
import { Badge } from '../../ui/parts';
import type { Tone } from '../../ui/toast';
import type { WorkflowRun, WorkflowStep } from './queries';

const looks: Record<WorkflowRun['status'] | WorkflowStep['status'], [Tone, IconName]> = {
  pending: ['grey', 'circle'],
  running: ['blue', 'play'],
  blocked: ['amber', 'person'],
  completed: ['green', 'check'],
  failed: ['red', 'alert'],
  cancelled: ['grey', 'stop'],
  skipped: ['grey', 'right'],
};

/** The status of a run or a step: a colour with an icon and the word. */
export function StatusBadge({ status }: { status: WorkflowRun['status'] | WorkflowStep['status'] }) {
  const [tone, icon] = looks[status];
  return (
    <Badge tone={tone} icon={icon}>
      {status}
    </Badge>
  );
}
