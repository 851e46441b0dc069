import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useEffect, useMemo, useRef } from 'react';
import type { Task, TaskStatus } from '../../api/client';
import { useMay } from '../../app/session';
import { Button } from '../../ui/button';
import { number } from '../../ui/figures';
import { Icon } from '../../ui/icon';
import { Loading, Problem } from '../../ui/parts';
import { useStore } from '../../ui/store';
import { useChangeTask } from '../change';
import { tasksQuery } from '../queries';
import { statuses } from '../status';
import s from './board.module.css';
import { useBoardKeys } from './board-keys';
import { Column, type ColumnHandle } from './column';
import { agentOf, columnsOf, type Filters, filterTasks, positionAt } from './columns';
import { drag, type Target } from './drag';
import { FirstSteps } from './first-steps';
import { newTask } from './new-task-store';

const route = getRouteApi('/shell/');

const distinct = (values: (string | undefined)[]): string[] =>
  [...new Set(values.filter((value) => value !== undefined))].toSorted();

interface FilterBarProps {
  tasks: readonly Task[];
  filters: Filters;
  onChange: (filters: Filters) => void;
  mayWrite: boolean;
  shown: number;
}

function FilterBar({ tasks, filters, onChange, mayWrite, shown }: FilterBarProps) {
  const agents = useMemo(() => distinct(tasks.map(agentOf)), [tasks]);
  const projects = useMemo(() => distinct(tasks.map(({ project }) => project)), [tasks]);
  const select = (name: 'agent' | 'project', label: string, values: string[]) =>
    values.length === 0 ? null : (
      <select
        className={`input ${s.select}`}
        aria-label={label}
        value={filters[name] ?? ''}
        onChange={(event) => onChange({ ...filters, [name]: event.target.value || undefined })}
      >
        <option value="">{label}: all</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    );
  return (
    <header className={s.bar}>
      <h1>Board</h1>
      <span className="meta num" role="status">
        {shown === tasks.length ? number(shown) : `${number(shown)} of ${number(tasks.length)}`}
        <span className="sr"> tasks</span>
      </span>
      <span className="grow" />
      <label className={s.search}>
        <Icon name="search" size={14} />
        <span className="sr">Search tasks</span>
        <input
          id="board-search"
          type="search"
          placeholder="Search tasks"
          value={filters.q ?? ''}
          onChange={(event) => onChange({ ...filters, q: event.target.value || undefined })}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
      </label>
      {select('agent', 'Agent', agents)}
      {select('project', 'Project', projects)}
      {mayWrite ? (
        <Button tone="primary" icon="plus" onClick={() => newTask.set({ status: 'todo' })}>
          New task
        </Button>
      ) : null}
    </header>
  );
}

/** The board: a column for each status, with its cards, which are moved by pointer and by keyboard. */
export function BoardView() {
  const query = useQuery(tasksQuery);
  const search = route.useSearch();
  const navigate = useNavigate();
  const mayWrite = useMay()('task:write');
  const { mutate: change } = useChangeTask();
  const tasks = useMemo(() => query.data ?? [], [query.data]);
  const filters = useDeferredValue(search);
  const filtered = useMemo(() => filterTasks(tasks, filters), [tasks, filters]);
  const columns = useMemo(() => columnsOf(filtered), [filtered]);
  const dragged = useStore(drag);
  const handles = useRef(new Map<TaskStatus, ColumnHandle>());
  const latest = useRef({ tasks, columns });
  latest.current = { tasks, columns };

  useEffect(() => () => drag.set(undefined), []);

  const onDrop = useCallback(
    (taskId: string, { status, index }: Target) => {
      const task = latest.current.tasks.find(({ id }) => id === taskId);
      if (!task) {
        return;
      }
      const column = latest.current.columns[status];
      const others = column.filter(({ id }) => id !== taskId);
      if (task.status === status && column.findIndex(({ id }) => id === taskId) === index) {
        return;
      }
      const position = positionAt(others, index);
      change({ task, patch: task.status === status ? { position } : { status, position } });
    },
    [change],
  );

  const announcement = useBoardKeys({ columns, handles: handles.current, mayWrite, onDrop });
  const refs = useMemo(
    () =>
      Object.fromEntries(
        statuses.map((status) => [
          status,
          (handle: ColumnHandle | null) => {
            if (handle) {
              handles.current.set(status, handle);
            }
          },
        ]),
      ) as Record<TaskStatus, (handle: ColumnHandle | null) => void>,
    [],
  );

  if (query.error && !query.data) {
    return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  }
  const onFilter = ({ q, agent, project }: Filters) =>
    void navigate({
      to: '/',
      search: { ...(q ? { q } : {}), ...(agent ? { agent } : {}), ...(project ? { project } : {}) },
      replace: true,
    });
  const movedTask = dragged && tasks.find(({ id }) => id === dragged.taskId);
  return (
    <div className={s.board}>
      <FilterBar tasks={tasks} filters={search} onChange={onFilter} mayWrite={mayWrite} shown={filtered.length} />
      <p id="board-keys" className="sr">
        Enter opens the task. Space lifts the card, arrows move it, space drops it.
      </p>
      <p className="sr" role="status" aria-live="assertive">
        {announcement}
      </p>
      {query.data === undefined ? (
        <Loading what="tasks" />
      ) : tasks.length === 0 ? (
        <FirstSteps />
      ) : (
        <div className={s.columns} tabIndex={-1}>
          {statuses.map((status) => (
            <Column
              key={status}
              ref={refs[status]}
              status={status}
              tasks={columns[status]}
              moved={movedTask?.status === status ? movedTask.id : undefined}
              dropAt={dragged?.target.status === status ? dragged.target.index : undefined}
              isFiltered={filtered.length < tasks.length}
              mayWrite={mayWrite}
              onDrop={onDrop}
            />
          ))}
        </div>
      )}
    </div>
  );
}
