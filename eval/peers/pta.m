% The Octave side of `peers` (eval/src/bin/peers): PTA with average linkage as its paper writes it down
% (Huang, Lai, Wang 2016), over microclusters, in matrix products.
1;

function found = pta(labels, clusters)
  [rows, ~, of] = unique(labels, "rows");
  n = size(rows, 1);
  sizes = accumarray(of, 1)';
  w = zeros(n);
  for u = 1:columns(rows)
    w += rows(:, u) == rows(:, u)';
  end
  w = w / columns(rows);
  w(1:n+1:end) = 0;
  k = max(1, floor(sqrt(n) / 2));
  sorted = sort(w, 2, "descend");
  threshold = sorted(:, min(k, n));
  w(w < threshold & w < threshold') = 0;
  p = w .* sizes;
  p = p ./ max(sum(p, 2), realmin);
  g = zeros(n);
  power = eye(n);
  for t = 1:k
    power = power * p;
    g += power * power';
  end
  norms = sqrt(diag(g));
  s = g ./ max(norms * norms', realmin);
  s(1:n+1:end) = 1;
  % Average linkage: the two most similar regions, weighted by their microclusters.
  group = 1:n;
  weight = ones(1, n);
  live = true(1, n);
  s(1:n+1:end) = -1;
  for merge = 1:n - clusters
    [~, at] = max(s(:));
    [a, b] = ind2sub([n, n], at);
    s(a, :) = (weight(a) * s(a, :) + weight(b) * s(b, :)) / (weight(a) + weight(b));
    s(:, a) = s(a, :)';
    s(a, a) = -1;
    s(b, :) = -1;
    s(:, b) = -1;
    s(a, !live) = -1;
    s(!live, a) = -1;
    live(b) = false;
    weight(a) += weight(b);
    group(group == b) = a;
  end
  found = group(of)';
end

function index = adjusted_rand(a, b)
  [~, ~, a] = unique(a);
  [~, ~, b] = unique(b);
  cells = accumarray([a(:), b(:)], 1);
  pairs = @(x) sum(x(:) .* (x(:) - 1) / 2);
  both = pairs(cells);
  rows = pairs(sum(cells, 2));
  cols = pairs(sum(cells, 1));
  expected = rows * cols / pairs(sum(cells(:)));
  index = (both - expected) / ((rows + cols) / 2 - expected);
end

% A line of input, or false at its end. `fgetl` would wait for what comes after the line.
function more = asked()
  do
    letter = fread(stdin, 1);
  until isempty(letter) || letter == 10
  more = !isempty(letter);
end

folder = argv(){end};
labels = csvread(fullfile(folder, "labels.csv"));
truth = csvread(fullfile(folder, "y.csv"));
printf("{\"ready\": true}\n");
fflush(stdout);
while asked()
  begin = tic;
  found = pta(labels, 10);
  seconds = toc(begin);
  score = adjusted_rand(found, truth(:));
  printf("{\"seconds\": %.9f, \"bytes\": null, \"score\": %.9f}\n", seconds, score);
  fflush(stdout);
end
