import { toolAccessOf } from './tool-access';

const lists = {
  allowedTools: ['*'],
  deniedTools: [],
  approvalRequiredTools: [],
  approvalMode: 'listed' as const,
};

describe('access to a tool', () => {
  it.each([
    ['everything allowed', {}, 'allowed'],
    ['no tool allowed', { allowedTools: [] }, 'denied'],
    ['another tool allowed', { allowedTools: ['write_file'] }, 'denied'],
    ['a prefix allowed', { allowedTools: ['read_*'] }, 'allowed'],
    ['denied and allowed', { allowedTools: ['read_file'], deniedTools: ['read_*'] }, 'denied'],
    ['denied and with approval', { deniedTools: ['read_file'], approvalRequiredTools: ['*'] }, 'denied'],
    ['not allowed, with approval', { allowedTools: [], approvalRequiredTools: ['*'] }, 'denied'],
    ['with approval', { approvalRequiredTools: ['read_file'] }, 'approval-required'],
    ['always with approval', { approvalMode: 'always' as const }, 'approval-required'],
  ])('%s', (_case, own, access) => {
    expect(toolAccessOf({ ...lists, ...own }, 'read_file')).toBe(access);
  });
});
