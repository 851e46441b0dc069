import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { setAccessKey } from '../api/access-key';
import { whenSignedOut } from '../api/query-client';
import { applyFeed } from '../live/apply';
import { connect, disconnect, liveState } from '../live/connection';
import { approvalsQuery } from '../runs/approvals/queries';
import { StartRun } from '../runs/start-run';
import { startRun } from '../runs/start-store';
import { NewTask } from '../tasks/board/new-task';
import { newTask } from '../tasks/board/new-task-store';
import { IconButton } from '../ui/button';
import { Icon, type IconName } from '../ui/icon';
import { useKeys } from '../ui/keys';
import { Kbd } from '../ui/parts';
import { useStore } from '../ui/store';
import { CommandMenu } from './command-menu';
import { Help } from './help';
import { preloadViews } from './lazy-view';
import { signOut, useMay, useSession } from './session';
import s from './shell.module.css';
import { theme } from './theme';

export const views = [
  { to: '/', label: 'Board', icon: 'board', key: 'b', permission: 'task:read' },
  { to: '/backlog', label: 'Backlog', icon: 'bookmark', key: 'k', permission: 'task:read' },
  { to: '/archive', label: 'Archive', icon: 'folder', key: 'a', permission: 'task:read' },
  { to: '/approvals', label: 'Approvals', icon: 'approvals', key: 'p', permission: 'task:read' },
  { to: '/queue', label: 'Queue', icon: 'queue', key: 'u', permission: 'agent:read' },
  { to: '/workflows', label: 'Workflows', icon: 'workflows', key: 'w', permission: 'workflow:read' },
  { to: '/fleet', label: 'Fleet', icon: 'fleet', key: 'f', permission: 'agent:read' },
  { to: '/metrics', label: 'Metrics', icon: 'metrics', key: 'm', permission: 'report:read' },
  { to: '/chat', label: 'Chat', icon: 'chat', key: 't', permission: 'task:read' },
  { to: '/audit', label: 'Audit', icon: 'audit', key: 'l', permission: 'admin:manage' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: ',', permission: 'settings:read' },
] as const satisfies { to: string; label: string; icon: IconName; key: string; permission: string }[];

function LiveMark() {
  const state = useStore(liveState);
  if (state === 'live' || state === 'off') {
    return null;
  }
  return (
    <div className={s.away} role="status">
      <Icon name="wifi" size={14} />
      {state === 'away' ? 'Connection lost, trying again …' : 'Connecting …'}
    </div>
  );
}

function Waiting() {
  const { data } = useQuery(approvalsQuery);
  const pending = data?.filter(({ status }) => status === 'pending').length ?? 0;
  return pending === 0 ? null : (
    <span className={s.count} title={`${pending} waiting for a decision`}>
      {pending}
    </span>
  );
}

function Navigation() {
  const may = useMay();
  return (
    <ul>
      {views
        .filter(({ permission }) => may(permission))
        .map(({ to, label, icon }) => (
          <li key={to}>
            <Link
              to={to}
              className={s.link}
              activeProps={{ className: s.active, 'aria-current': 'page' }}
              activeOptions={{ exact: to === '/' }}
            >
              <Icon name={icon} />
              <span className="grow">{label}</span>
              {to === '/approvals' ? <Waiting /> : null}
            </Link>
          </li>
        ))}
    </ul>
  );
}

const nextTheme = { system: 'dark', dark: 'light', light: 'system' } as const;

function Person() {
  const session = useSession();
  const chosen = useStore(theme);
  const isOpen = session?.status.authEnabled === false;
  return (
    <div className={s.person}>
      <span className="cut grow meta" title={session?.context?.actor}>
        {session?.context?.actor.replace(/^(?:user|service):/, '') ?? ''}
      </span>
      <IconButton
        small
        icon={chosen === 'dark' ? 'moon' : 'sun'}
        label={`Theme: ${chosen}. Switch to ${nextTheme[chosen]}`}
        onClick={() => theme.set(nextTheme[chosen])}
      />
      {isOpen ? null : <IconButton small icon="out" label="Sign out" onClick={() => void signOut()} />}
    </div>
  );
}

/** The frame of every view: navigation, the live connection, the command menu and the keys that work everywhere. */
export function Shell() {
  const [dialog, setDialog] = useState<'commands' | 'help' | undefined>();
  const [isOpen, setOpen] = useState(false);
  const making = useStore(newTask);
  const starting = useStore(startRun);
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });

  useEffect(() => {
    const toLogin = () => {
      // A key that is not accepted any more would refuse the sign-in too.
      setAccessKey(undefined);
      location.assign(`/login?to=${encodeURIComponent(location.pathname + location.search)}`);
    };
    whenSignedOut(toLogin);
    const stop = applyFeed();
    connect(toLogin);
    preloadViews();
    return () => {
      stop();
      disconnect();
    };
  }, []);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setDialog((open) => (open === 'commands' ? undefined : 'commands'));
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);

  const [isGoing, setGoing] = useState(false);
  useEffect(() => {
    if (!isGoing) {
      return;
    }
    const onKey = (event: KeyboardEvent) => {
      setGoing(false);
      const view = views.find(({ key }) => key === event.key);
      if (view) {
        event.preventDefault();
        event.stopPropagation();
        void navigate({ to: view.to });
      }
    };
    document.addEventListener('keydown', onKey, { capture: true, once: true });
    return () => document.removeEventListener('keydown', onKey, { capture: true });
  }, [isGoing, navigate]);
  useKeys({ '?': () => setDialog('help'), g: () => setGoing(true) });

  return (
    <div className={s.shell}>
      <a href="#view" className={s.skip}>
        Skip to the view
      </a>
      <header className={s.bar}>
        <IconButton icon="menu" label="Navigation" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
        <strong className="grow">Runboard</strong>
        <IconButton icon="search" label="Open anything" onClick={() => setDialog('commands')} />
      </header>
      <nav className={isOpen ? `${s.nav} ${s.open}` : s.nav} aria-label="Views">
        <div className={s.brand}>
          <img src="/icon.svg" alt="" width={22} height={22} />
          <strong>Runboard</strong>
        </div>
        <button type="button" className={s.find} onClick={() => setDialog('commands')}>
          <Icon name="search" size={14} />
          <span className="grow">Open anything</span>
          <Kbd>⌘K</Kbd>
        </button>
        <Navigation />
        <div className="grow" />
        <LiveMark />
        <Person />
      </nav>
      <main id="view" className={s.view} tabIndex={-1}>
        <Outlet />
      </main>
      {making ? <NewTask status={making.status} onClose={() => newTask.set(undefined)} /> : null}
      {starting ? <StartRun task={starting} onClose={() => startRun.set(undefined)} /> : null}
      {dialog === 'commands' ? <CommandMenu onClose={() => setDialog(undefined)} /> : null}
      {dialog === 'help' ? <Help onClose={() => setDialog(undefined)} /> : null}
    </div>
  );
}
