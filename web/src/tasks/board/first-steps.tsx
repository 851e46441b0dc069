import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../app/session';
import { agentsQuery, reposQuery } from '../../settings/queries';
import { Button } from '../../ui/button';
import { Icon } from '../../ui/icon';
import s from './board.module.css';
import { newTask } from './new-task-store';

interface StepProps {
  number: number;
  title: string;
  text: string;
  done: boolean;
  children: React.ReactNode;
}

function Step({ number, title, text, done, children }: StepProps) {
  return (
    <li className={s.step}>
      <span className={done ? `${s.stepMark} ${s.stepDone}` : s.stepMark}>
        {done ? <Icon name="check" size={14} /> : number}
      </span>
      <span className="grow">
        <strong>{title}</strong>
        <span className="sr">{done ? ', done' : ''}</span>
        <p className="meta">{text}</p>
      </span>
      {children}
    </li>
  );
}

/** What stands on an empty board: the three steps to a first run. */
export function FirstSteps() {
  const may = useMay();
  const mayConfigure = may('settings:read');
  const { data: config } = useQuery({ ...agentsQuery, enabled: mayConfigure });
  const { data: repos } = useQuery({ ...reposQuery, enabled: mayConfigure });
  const hasAgent = config?.agents.some(({ enabled }) => enabled) === true;
  const hasRepo = (repos?.length ?? 0) > 0;
  return (
    <div className={s.first}>
      <h2>Three steps to a first run</h2>
      <ol>
        <Step
          number={1}
          title="Connect an agent"
          text="Agents that are installed on this machine are offered."
          done={hasAgent}
        >
          {mayConfigure ? (
            <Link to="/settings" className="button">
              {hasAgent ? 'Agents' : 'Connect'}
            </Link>
          ) : null}
        </Step>
        <Step number={2} title="Add a repository" text="Each run works in a worktree of its own." done={hasRepo}>
          {mayConfigure ? (
            <Link to="/settings" hash="repositories" className="button">
              {hasRepo ? 'Repositories' : 'Add'}
            </Link>
          ) : null}
        </Step>
        <Step
          number={3}
          title="Make a task and start it"
          text="State what is to be done and how it is verified."
          done={false}
        >
          {may('task:write') ? (
            <Button tone="primary" onClick={() => newTask.set({ status: 'todo' })}>
              New task
            </Button>
          ) : null}
        </Step>
      </ol>
    </div>
  );
}
