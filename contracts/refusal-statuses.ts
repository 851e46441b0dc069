/** What a refusal means, by its status, with one of them as an example. */
export const refusalStatuses: Record<number, { description: string; example?: Record<string, unknown> }> = {
  400: {
    description: 'The request is not valid; `details.issues` names each field with what is wrong with it.',
    example: {
      error: 'Validation failed',
      code: 'VALIDATION_ERROR',
      details: { issues: [{ path: 'title', message: 'is required' }] },
    },
  },
  401: {
    description: 'The caller presented no credential, or one that is not valid.',
    example: { error: 'A valid key is required.', code: 'AUTH_REQUIRED', details: {} },
  },
  403: {
    description: 'The caller lacks the permission, its role only reads, or it calls from where it may not.',
    example: {
      error: 'This requires the permission task:write.',
      code: 'FORBIDDEN',
      details: { required: ['task:write'], currentRole: 'agent', currentPermissions: ['task:read'] },
    },
  },
  404: {
    description: 'What the path names does not exist, or not for the caller.',
    example: {
      error: 'No task has the id "task_20260131_a1b2c3".',
      code: 'NOT_FOUND',
      details: { resource: 'task', id: 'task_20260131_a1b2c3' },
    },
  },
  408: { description: 'The request or what it waits for took too long.' },
  409: { description: 'It contradicts the current state, which `details` has; read it again before repeating.' },
  410: { description: 'It was there and cannot be had any more.' },
  413: { description: 'The body is larger than what is accepted.' },
  415: { description: 'The body is of a type or encoding that is not accepted.' },
  416: { description: 'The range is outside of the content.' },
  429: { description: 'Too many requests; `Retry-After` has the seconds to wait.' },
  500: { description: 'An error of the service, which is in its log under the `X-Request-ID` of the response.' },
  502: { description: 'What the service calls for it responded with an error.' },
  503: { description: 'Something that it needs is away; repeat it later.' },
  507: { description: 'The storage of the service is full; nothing was changed.' },
};
