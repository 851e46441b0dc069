import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useState } from 'react';
import type { Task } from '../api/client';
import { newTask } from '../tasks/board/new-task-store';
import { tasksQuery } from '../tasks/queries';
import { Dialog } from '../ui/dialog';
import { Icon, type IconName } from '../ui/icon';
import s from './command-menu.module.css';
import { signOut, useMay } from './session';
import { views } from './shell';
import { theme } from './theme';

interface Command {
  id: string;
  label: string;
  hint: string;
  icon: IconName;
  run: () => void;
}

const shown = 50;

/** Whether all words of a search occur, in any order. */
const matches = (text: string, words: readonly string[]): boolean => {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
};

function useCommands(): Command[] {
  const navigate = useNavigate();
  const may = useMay();
  const { data: tasks = [] } = useQuery(tasksQuery);
  return useMemo(() => {
    const ofTask = ({ id, title, review, attempt }: Task): Command[] => [
      {
        id,
        label: title,
        hint: id,
        icon: 'circle',
        run: () => void navigate({ to: '/tasks/$taskId', params: { taskId: id } }),
      },
      ...(review?.state === 'pending'
        ? [
            {
              id: `${id}/diff`,
              label: `Review: ${title}`,
              hint: 'diff',
              icon: 'review' as const,
              run: () => void navigate({ to: '/tasks/$taskId/diff', params: { taskId: id } }),
            },
          ]
        : []),
      ...(attempt?.status === 'running'
        ? [
            {
              id: `${id}/run`,
              label: `Run: ${title}`,
              hint: attempt.agent,
              icon: 'play' as const,
              run: () =>
                void navigate({
                  to: '/tasks/$taskId/runs/$attemptId',
                  params: { taskId: id, attemptId: attempt.id },
                }),
            },
          ]
        : []),
    ];
    return [
      ...(may('task:write')
        ? [
            {
              id: 'new',
              label: 'New task',
              hint: 'c',
              icon: 'plus' as const,
              run: () => newTask.set({ status: 'todo' }),
            },
          ]
        : []),
      ...views
        .filter(({ permission }) => may(permission))
        .map(({ to, label, icon, key }) => ({
          id: to,
          label: `Go to ${label}`,
          hint: `g ${key}`,
          icon,
          run: () => void navigate({ to }),
        })),
      ...(['light', 'dark', 'system'] as const).map((name) => ({
        id: `theme-${name}`,
        label: `Theme: ${name}`,
        hint: '',
        icon: name === 'dark' ? ('moon' as const) : ('sun' as const),
        run: () => theme.set(name),
      })),
      { id: 'sign-out', label: 'Sign out', hint: '', icon: 'out', run: () => void signOut() },
      ...tasks.flatMap(ofTask),
    ];
  }, [tasks, navigate, may]);
}

/** Opens every view and task, by a few letters of its name. */
export function CommandMenu({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const commands = useCommands();
  const query = useDeferredValue(text);
  const results = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return commands.filter(({ label, hint }) => matches(`${label} ${hint}`, words)).slice(0, shown);
  }, [commands, query]);
  const choose = (command: Command | undefined) => {
    if (command) {
      onClose();
      command.run();
    }
  };
  const move = (step: number) => {
    const next = Math.min(Math.max(selected + step, 0), results.length - 1);
    setSelected(next);
    document.getElementById(`command-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <Dialog label="Open anything" onClose={onClose} className={s.dialog}>
      <div className={s.search}>
        <Icon name="search" />
        <input
          autoFocus
          placeholder="A task, a view, an action …"
          aria-label="Search"
          role="combobox"
          aria-expanded
          aria-controls="commands"
          aria-activedescendant={results.length > 0 ? `command-${selected}` : undefined}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setSelected(0);
          }}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step !== undefined) {
              event.preventDefault();
              move(step);
            }
            if (event.key === 'Enter') {
              event.preventDefault();
              choose(results[selected]);
            }
          }}
        />
      </div>
      <ul id="commands" role="listbox" aria-label="Results" className={s.results}>
        {results.map((command, index) => (
          <li
            key={command.id}
            id={`command-${index}`}
            role="option"
            aria-selected={index === selected}
            className={s.result}
            onPointerMove={() => setSelected(index)}
            onClick={() => choose(command)}
          >
            <Icon name={command.icon} />
            <span className="grow cut">{command.label}</span>
            <span className="meta mono">{command.hint}</span>
          </li>
        ))}
      </ul>
      {results.length === 0 ? <p className={s.none}>Nothing has this name.</p> : null}
    </Dialog>
  );
}
