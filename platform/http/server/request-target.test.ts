import { canonicalTarget } from './request-target';

describe('the target of a request', () => {
  it.each([
    ['/', '/'],
    ['/api/tasks', '/api/tasks'],
    ['/api/tasks?status=a//b&x=%zz', '/api/tasks?status=a//b&x=%zz'],
    ['/api/tasks/', '/api/tasks/'],
    ['/%61pi/t%61sks', '/api/tasks'],
    ['/api/a%2fb%C3%bc', '/api/a%2Fb%C3%BC'],
    ['/API/Tasks', '/API/Tasks'],
    ['/api/.well-known/..a/...', '/api/.well-known/..a/...'],
    ['http://board:3001/api/tasks?a=1', '/api/tasks?a=1'],
    ['HTTP://BOARD:3001', '/'],
    ['http://board:3001?a=1', '/?a=1'],
  ])('%s is %s', (target, canonical) => expect(canonicalTarget(target, 'board:3001')).toBe(canonical));

  it.each([
    '',
    '*',
    '//',
    '//api/tasks',
    '/api//tasks',
    '/api/tasks//',
    '/api/./tasks',
    '/api/../health',
    '/api/%2e%2E/health',
    '/api/tasks/..',
    '/api\\tasks',
    '/api/tasks/é',
    '/api/tasks/a b',
    '/api/tasks#fragment',
    '/api/tasks/%',
    '/api/tasks/%zz',
    '/api/tasks/%E0%A4%A',
    '/api/tasks/%ff',
    'api/tasks',
    'board:3001',
    'http://',
    'http:///api',
    'http://other:3001/api/tasks',
    'http://user@board:3001/api/tasks',
    'ftp://board:3001/api/tasks',
  ])('%j is none', (target) => expect(canonicalTarget(target, 'board:3001')).toBeUndefined());
});
