import { done, type ListCase, posting } from './list-case';

const task = async (fields: object, board: Parameters<typeof done>[0]): Promise<string> =>
  (await done(board, 'POST', '/api/tasks', { title: 'listed', ...fields })).id;

/** Tasks, and what is found in them. */
export const boardCases: ListCase[] = [
  {
    operation: 'listTasks',
    path: '/api/tasks?project=list-active',
    items: 'tasks',
    numbered: true,
    add: posting('/api/tasks', (n) => ({ title: `task ${n}`, project: 'list-active' })),
  },
  {
    operation: 'listArchivedTasks',
    path: '/api/tasks/archived?project=list-archived',
    items: 'tasks',
    numbered: true,
    add: async (board) => {
      const id = await task({ project: 'list-archived' }, board);
      await done(board, 'POST', `/api/tasks/${id}/archive`);
    },
  },
  {
    operation: 'listBacklog',
    path: '/api/backlog?project=list-backlog',
    items: 'tasks',
    numbered: true,
    add: posting('/api/backlog', (n) => ({ title: `planned ${n}`, project: 'list-backlog' })),
  },
  {
    operation: 'suggestArchival',
    path: '/api/tasks/archive/suggestions',
    idOf: ({ sprint }) => sprint,
    add: async (board, n) => {
      const id = await task({ sprint: `sprint-${n}` }, board);
      await done(board, 'PATCH', `/api/tasks/${id}`, { status: 'done' });
    },
  },
  ...['searchObservations', 'searchObservationsByName'].map((operation, which): ListCase => {
    const path = which === 0 ? '/api/observations' : '/api/observations/search';
    return {
      operation,
      path: `${path}?agent=${operation}`,
      items: 'results',
      idOf: ({ observation }) => observation.id,
      prepare: (board) => task({}, board),
      add: (board, n, id) => {
        const observation = { content: `seen ${n}`, type: 'insight', agent: operation };
        return done(board, 'POST', `/api/tasks/${id}/observations`, observation);
      },
    };
  }),
  {
    operation: 'listWorkProducts',
    prepare: (board) => task({}, board),
    path: '/api/work-products?kind=plan',
    add: (board, n, taskId) =>
      done(board, 'POST', '/api/work-products', { taskId, title: `plan ${n}`, kind: 'plan', content: 'x' }),
  },
  {
    operation: 'listTaskWorkProducts',
    prepare: (board) => task({}, board),
    path: (id) => `/api/tasks/${id}/work-products`,
    add: (board, n, id) =>
      done(board, 'POST', `/api/tasks/${id}/work-products`, { title: `product ${n}`, content: 'x' }),
  },
  {
    operation: 'listWorkProductVersions',
    prepare: async (board) => {
      const path = `/api/tasks/${await task({}, board)}/work-products`;
      return (await done(board, 'POST', path, { title: 'listed', content: 'x' })).id as string;
    },
    path: (id) => `/api/work-products/${id}/versions`,
    idOf: ({ version }) => version,
    add: (board, n, id) => done(board, 'PATCH', `/api/work-products/${id}`, { content: `version ${n}` }),
  },
  {
    operation: 'listLessons',
    path: '/api/lessons?project=list-lessons',
    items: 'data',
    idOf: ({ taskId }) => taskId,
    add: async (board) => {
      const id = await task({ project: 'list-lessons' }, board);
      await done(board, 'PATCH', `/api/tasks/${id}`, {
        lessonsLearned: 'read lists to their end',
        lessonTags: ['list'],
      });
    },
  },
  {
    operation: 'listLessonTags',
    path: '/api/lessons/tags',
    items: 'data',
    idOf: ({ tag }) => tag,
    add: async (board, n) => {
      const id = await task({}, board);
      await done(board, 'PATCH', `/api/tasks/${id}`, { lessonsLearned: 'count tags', lessonTags: [`tag-${n}`] });
    },
  },
  {
    operation: 'listPendingAutomation',
    path: '/api/automation/pending',
    add: (board) => task({ type: 'automation' }, board),
  },
  {
    operation: 'listRunningAutomation',
    path: '/api/automation/running',
    add: async (board) => {
      const id = await task({ type: 'automation' }, board);
      await done(board, 'POST', `/api/automation/${id}/start`, {});
    },
  },
  ...['listDocs', 'listDocDirectories', 'searchDocs'].map((operation): ListCase => ({
    operation,
    path:
      { listDocs: '/api/docs?directory=list', listDocDirectories: '/api/docs/directories' }[operation] ??
      '/api/docs/search?q=sought',
    idOf: ({ path }) => path,
    add: (board, n) =>
      done(board, 'PUT', `/api/docs/file/${operation === 'listDocs' ? 'list/' : `${operation}-${n}/`}${n}.md`, {
        content: operation === 'searchDocs' ? 'sought' : 'x',
      }),
  })),
  {
    operation: 'listLineComments',
    path: (taskId) => `/api/diff/${taskId}/comments?state=open`,
    prepare: (board) => task({}, board),
    add: (board, n, taskId) =>
      done(board, 'POST', `/api/diff/${taskId}/comments`, { path: 'a.ts', line: n, body: 'x' }),
  },
];
