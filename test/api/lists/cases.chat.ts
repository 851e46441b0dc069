import { done, type ListCase, posting } from './list-case';

/** Messages of people and agents. */
export const chatCases: ListCase[] = [
  {
    operation: 'listSquadMessages',
    path: '/api/chat/squad?agent=admin',
    add: posting('/api/chat/squad', (n) => ({ message: `word ${n}` })),
    backwards: true,
  },
  {
    operation: 'searchSquadMessages',
    path: '/api/chat/squad/search?q=needle',
    add: posting('/api/chat/squad', (n) => ({ message: `${n % 2 ? 'a needle' : 'a hay needle'} ${n}` })),
  },
  {
    operation: 'readSquadThread',
    prepare: async (board) => (await done(board, 'POST', '/api/chat/squad', { message: 'a thread begins' })).id,
    path: (root) => `/api/chat/squad/${root}/thread`,
    add: (board, n, root) => done(board, 'POST', '/api/chat/squad', { message: `answer ${n}`, replyToId: root }),
  },
  {
    operation: 'listChatSessions',
    path: '/api/chat/sessions',
    add: posting('/api/chat/send', (n) => ({ message: `session ${n}` })),
  },
  {
    operation: 'readChatHistory',
    prepare: async (board) => (await done(board, 'POST', '/api/chat/send', { message: 'a session begins' })).sessionId,
    path: (sessionId) => `/api/chat/sessions/${sessionId}/history`,
    add: (board, n, sessionId) => done(board, 'POST', '/api/chat/send', { sessionId, message: `word ${n}` }),
    backwards: true,
  },
  {
    operation: 'listActivity',
    path: '/api/activity?type=template_applied',
    add: ({ api }, n) =>
      api.context.activity.record([{ type: 'template_applied', taskId: `task_20260101_list${n}`, taskTitle: 'x' }]),
  },
  {
    operation: 'listChanges',
    prepare: () => Promise.resolve(new Date().toISOString()),
    path: (since) => `/api/changes?since=${since}&types=tasks`,
    items: ({ changes }) => [...changes.tasks.created, ...changes.tasks.updated],
    add: posting('/api/tasks', (n) => ({ title: `changed ${n}` })),
  },
  {
    operation: 'listCommunicationMappings',
    path: '/api/integrations/communication/mappings?adapterId=listed',
    items: 'mappings',
    add: ({ api }, n) =>
      api.context.adapterMappings.map({
        ...{ adapterId: 'listed', externalThreadId: `thread-${n}`, createdBy: 'test' },
        target: { kind: 'squad', squadMessageId: `msg_${n}` },
      }),
  },
  {
    operation: 'listCommunicationDeliveries',
    path: '/api/integrations/communication/deliveries?adapterId=listed&state=pending',
    items: 'deliveries',
    add: ({ api }, n) => {
      const at = new Date().toISOString();
      return api.context.adapterDeliveries.request({
        ...{ id: `delivery_listed${n}`, adapterId: 'listed', kind: 'slack', state: 'pending', message: `message ${n}` },
        ...{ requestedBy: 'test', attempts: 0, createdAt: at, updatedAt: at },
      });
    },
  },
  {
    operation: 'listBroadcasts',
    path: '/api/broadcasts?unread=true&agent=somebody',
    add: posting('/api/broadcasts', (n) => ({ message: `broadcast ${n}` })),
  },
  {
    operation: 'listNotifications',
    path: '/api/notifications?agent=lister&undelivered=true',
    add: ({ api }, n) =>
      api.context.notifications.add({ type: 'info', content: `${n}`, fromAgent: 'test', targetAgent: 'lister' }),
  },
  {
    operation: 'listPendingNotifications',
    path: '/api/notifications/pending',
    items: 'messages',
    add: posting('/api/notifications', (n) => ({ message: `for whoever runs it ${n}` })),
  },
  {
    operation: 'listFeedback',
    path: '/api/feedback?agent=lister',
    add: posting('/api/feedback', (n) => ({ content: `good ${n}`, agent: 'lister', sentiment: 'positive' })),
  },
  {
    operation: 'listUnresolvedFeedback',
    path: '/api/feedback/unresolved',
    add: posting('/api/feedback', (n) => ({ content: `open ${n}`, agent: 'other', sentiment: 'neutral' })),
  },
  {
    operation: 'listStatusHistory',
    path: '/api/status-history',
    add: (board, n) => done(board, 'POST', '/api/agent/status', { status: n % 2 ? 'working' : 'idle' }),
  },
  {
    operation: 'listStatusHistoryRange',
    path: '/api/status-history/range?startDate=2026-01-01&endDate=2099-01-01',
    add: (board, n) => done(board, 'POST', '/api/agent/status', { status: n % 2 ? 'thinking' : 'error' }),
  },
];
