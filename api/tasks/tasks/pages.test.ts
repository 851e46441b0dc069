import { linkHeader, paginationOf } from './pages';

describe('task pages', () => {
  it('has no pages until the caller asks for some', () => {
    expect(paginationOf({}, 70)).toBeUndefined();
    expect(paginationOf({ page: 2 }, 70)).toEqual({ page: 2, limit: 50, total: 70, totalPages: 2 });
    expect(paginationOf({ limit: 30 }, 70)).toEqual({ page: 1, limit: 30, total: 70, totalPages: 3 });
  });

  it('links to the neighbours of a page with the same filters', () => {
    const query = { status: ['todo' as const, 'done' as const], page: 2, limit: 10 };
    const header = linkHeader('/api/tasks', query, { page: 2, limit: 10, total: 25, totalPages: 3 });
    expect(header.split(', ')).toEqual([
      '</api/tasks?status=todo%2Cdone&page=1&limit=10>; rel="first"',
      '</api/tasks?status=todo%2Cdone&page=1&limit=10>; rel="prev"',
      '</api/tasks?status=todo%2Cdone&page=3&limit=10>; rel="next"',
      '</api/tasks?status=todo%2Cdone&page=3&limit=10>; rel="last"',
    ]);
  });
});
