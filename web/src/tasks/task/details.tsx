import { useQuery } from '@tanstack/react-query';
import type { Schema, Task, TaskStatus } from '../../api/client';
import { useMay } from '../../app/session';
import { agentsQuery, reposQuery } from '../../settings/queries';
import { money } from '../../ui/figures';
import { Id, Panel } from '../../ui/parts';
import { Ago } from '../../ui/time';
import { useChangeTask } from '../change';
import { priorities, type Priority, priorityLabel, statuses, statusLabel } from '../status';

type Option = readonly [value: string, label: string];

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly Option[];
  disabled: boolean;
  onChange: (value: string) => void;
}

function Choice({ label, value, options, disabled, onChange }: ChoiceProps) {
  const known = options.some(([each]) => each === value);
  return (
    <>
      <dt id={`detail-${label}`}>{label}</dt>
      <dd>
        <select
          className="input"
          aria-labelledby={`detail-${label}`}
          value={value}
          disabled={disabled}
          onChange={(event) => onChange(event.target.value)}
        >
          {known ? null : <option value={value}>{value}</option>}
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      </dd>
    </>
  );
}

/** The fields of a task. */
export function Details({ task }: { task: Task }) {
  const may = useMay();
  const disabled = !may('task:write');
  const mayConfigure = may('settings:read');
  const { data: config } = useQuery({ ...agentsQuery, enabled: mayConfigure });
  const { data: repos = [] } = useQuery({ ...reposQuery, enabled: mayConfigure });
  const { mutate } = useChangeTask();
  const change = (patch: Omit<Schema<'TaskPatch'>, 'expectedRevision'>) => mutate({ task, patch });
  const common = { disabled };
  return (
    <Panel title="Details">
      <dl className="facts">
        <Choice
          {...common}
          label="Column"
          value={task.status}
          options={statuses.map((each) => [each, statusLabel[each]])}
          onChange={(status) => change({ status: status as TaskStatus })}
        />
        <Choice
          {...common}
          label="Priority"
          value={task.priority}
          options={priorities.map((each) => [each, priorityLabel[each]])}
          onChange={(priority) => change({ priority: priority as Priority })}
        />
        <Choice
          {...common}
          label="Agent"
          value={task.agent ?? ''}
          options={[
            ['', 'Chosen by routing'],
            ...(config?.agents ?? []).map(({ type, name }) => [type, name] as const),
          ]}
          onChange={(agent) => change({ agent: agent === '' ? null : agent })}
        />
        <Choice
          {...common}
          label="Repository"
          value={task.git?.repo ?? ''}
          options={[['', 'None'], ...repos.map(({ name }) => [name, name] as const)]}
          onChange={(repo) => change({ git: repo === '' ? null : { ...task.git, repo } })}
        />
        <Choice
          {...common}
          label="Review"
          value={task.executionPolicy?.review ?? ''}
          options={[
            ['', 'As configured'],
            ['required', 'Required'],
          ]}
          onChange={(review) => {
            const { review: _review, ...rest } = task.executionPolicy ?? {};
            change({ executionPolicy: review === 'required' ? { ...rest, review } : rest });
          }}
        />
        {task.project ? (
          <>
            <dt>Project</dt>
            <dd>{task.project}</dd>
          </>
        ) : null}
        {task.git?.branch ? (
          <>
            <dt>Branch</dt>
            <dd className="mono">{task.git.branch}</dd>
          </>
        ) : null}
        {task.blockedReason ? (
          <>
            <dt>Blocked</dt>
            <dd>
              {task.blockedReason.note ?? task.blockedReason.category}{' '}
              <span className="meta">({task.blockedReason.category})</span>
            </dd>
          </>
        ) : null}
        {task.actualCost === undefined ? null : (
          <>
            <dt>Cost</dt>
            <dd className="num">{money(task.actualCost)}</dd>
          </>
        )}
        <dt>Task</dt>
        <dd>
          <Id id={task.id} short={false} />
        </dd>
        <dt>Created</dt>
        <dd>
          <Ago at={task.createdAt} />{' '}
          <span className="meta">{task.createdBy ? `by ${task.createdBy.replace(/^\w+:/, '')}` : ''}</span>
        </dd>
        <dt>Changed</dt>
        <dd>
          <Ago at={task.updatedAt} />
        </dd>
      </dl>
    </Panel>
  );
}
