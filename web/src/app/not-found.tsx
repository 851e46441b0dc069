import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Empty, Loading, Problem } from '../ui/parts';
import { ViewLoadError } from './lazy-view';

export function NotFound() {
  return (
    <Empty icon="search" title="There is no such view">
      <Link to="/">Go to the board</Link>
    </Empty>
  );
}

export function ViewProblem({ error, reset }: { error: unknown; reset: () => void }) {
  return error instanceof ViewLoadError ? <LoadProblem error={error} /> : <Problem error={error} onRetry={reset} />;
}

const retryEveryMs = 1_000;

/** Resolves once the service responds. */
async function serviceBack(): Promise<void> {
  while (
    !(await fetch('/health/live')
      .then(({ ok }) => ok)
      .catch(() => false))
  ) {
    await new Promise((resolve) => setTimeout(resolve, retryEveryMs));
  }
}

/** A view whose code could not be fetched: the document is loaded again, but not before the service responds. */
function LoadProblem({ error }: { error: ViewLoadError }) {
  const [isWaiting, setWaiting] = useState(false);
  const retry = () => {
    setWaiting(true);
    void serviceBack().then(() => location.reload());
  };
  return isWaiting ? <Loading what="the view once the service responds" /> : <Problem error={error} onRetry={retry} />;
}
