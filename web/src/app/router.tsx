import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { queryClient } from '../api/query-client';
import { BoardView } from '../tasks/board/board-view';
import { lazyView } from './lazy-view';
import { NotFound, ViewProblem } from './not-found';
import { sessionQuery } from './session';
import { Shell } from './shell';

const root = createRootRoute({ notFoundComponent: NotFound, errorComponent: ViewProblem });

/** Views of those who have signed in: others are led to the sign-in, and back after it. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: ViewProblem,
  beforeLoad: async ({ location }) => {
    const { status, context } = await queryClient.query({ ...sessionQuery, staleTime: 'static' });
    if (!context) {
      const to = status.needsSetup && !status.oidc ? '/setup' : '/login';
      redirect({ to, search: location.href === '/' ? {} : { to: location.href }, throw: true });
    }
  },
});

const signInSearch = (search: Record<string, unknown>): { to?: string; by?: 'key' } => {
  const { to, by } = search;
  return {
    // Only a path of this page: never an address that a link to the sign-in brings.
    ...(typeof to === 'string' && /^\/(?![/\\])/.test(to) ? { to } : {}),
    ...(by === 'key' ? { by } : {}),
  };
};

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: signInSearch,
  component: lazyView(() => import('../identity/login'), 'Login'),
});
const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  validateSearch: signInSearch,
  component: lazyView(() => import('../identity/setup'), 'Setup'),
});
const recover = createRoute({
  getParentRoute: () => root,
  path: '/recover',
  component: lazyView(() => import('../identity/recover'), 'Recover'),
});

const boardRoute = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: (search: Record<string, unknown>): { q?: string; agent?: string; project?: string } =>
    Object.fromEntries(
      ['q', 'agent', 'project'].flatMap((name) =>
        typeof search[name] === 'string' && search[name] !== '' ? [[name, search[name]]] : [],
      ),
    ),
  component: BoardView,
});
const backlog = createRoute({
  getParentRoute: () => shell,
  path: '/backlog',
  component: lazyView(() => import('../tasks/lists/task-list'), 'BacklogView'),
});
const archive = createRoute({
  getParentRoute: () => shell,
  path: '/archive',
  component: lazyView(() => import('../tasks/lists/task-list'), 'ArchiveView'),
});
const task = createRoute({
  getParentRoute: () => shell,
  path: '/tasks/$taskId',
  component: lazyView(() => import('../tasks/task/task-view'), 'TaskView'),
});
const run = createRoute({
  getParentRoute: () => shell,
  path: '/tasks/$taskId/runs/$attemptId',
  component: lazyView(() => import('../runs/run/run-view'), 'RunView'),
});
const diff = createRoute({
  getParentRoute: () => shell,
  path: '/tasks/$taskId/diff',
  component: lazyView(() => import('../runs/diff/diff-view'), 'DiffView'),
});
const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  component: lazyView(() => import('../runs/approvals/approvals-view'), 'ApprovalsView'),
});
const queue = createRoute({
  getParentRoute: () => shell,
  path: '/queue',
  component: lazyView(() => import('../runs/queue/queue-view'), 'QueueView'),
});
const workflows = createRoute({
  getParentRoute: () => shell,
  path: '/workflows',
  component: lazyView(() => import('../runs/workflows/workflows-view'), 'WorkflowsView'),
});
const workflowRun = createRoute({
  getParentRoute: () => shell,
  path: '/workflows/runs/$runId',
  component: lazyView(() => import('../runs/workflows/workflow-run-view'), 'WorkflowRunView'),
});
const fleet = createRoute({
  getParentRoute: () => shell,
  path: '/fleet',
  component: lazyView(() => import('../system/fleet-view'), 'FleetView'),
});
const metrics = createRoute({
  getParentRoute: () => shell,
  path: '/metrics',
  component: lazyView(() => import('../system/metrics/metrics-view'), 'MetricsView'),
});
const chat = createRoute({
  getParentRoute: () => shell,
  path: '/chat',
  component: lazyView(() => import('../chat/chat-view'), 'ChatView'),
});
const audit = createRoute({
  getParentRoute: () => shell,
  path: '/audit',
  component: lazyView(() => import('../system/audit-view'), 'AuditView'),
});
const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: lazyView(() => import('../settings/settings-view'), 'SettingsView'),
});

const routeTree = root.addChildren([
  login,
  setup,
  recover,
  shell.addChildren([
    boardRoute,
    backlog,
    archive,
    task,
    run,
    diff,
    approvals,
    queue,
    workflows,
    workflowRun,
    fleet,
    metrics,
    chat,
    audit,
    settings,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  scrollRestoration: false,
  // Of each view by itself, so that the navigation remains.
  defaultErrorComponent: ViewProblem,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
