export * from './client';
export * from './diff';
export * from './feed';
export * from './pages';
export type { components, operations, paths } from './types';
