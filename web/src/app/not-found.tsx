import { Link } from '@tanstack/react-router';
import { Empty, Problem } from '../ui/parts';

export function NotFound() {
  return (
    <Empty icon="search" title="There is no such view">
      <Link to="/">Go to the board</Link>
    </Empty>
  );
}

export function ViewProblem({ error, reset }: { error: unknown; reset: () => void }) {
  return <Problem error={error} onRetry={reset} />;
}
