"""Trains a small network on points of two classes that no line divides."""

import numpy as np

import reprise as rp
from reprise import nn, optim


class Mlp(nn.Module):
    def __init__(self):
        self.fc1 = nn.Linear(2, 32)
        self.fc2 = nn.Linear(32, 2)

    def __call__(self, x):
        return self.fc2(rp.relu(self.fc1(x)))


def main():
    rp.set_seed(0)
    points = np.random.default_rng(0).uniform(-1, 1, (512, 2)).astype(np.float32)
    labels = (points[:, 0] * points[:, 1] > 0).astype(np.int64)
    net = Mlp()
    optimizer = optim.Adam(net.parameters(), lr=1e-2)

    @rp.jit  # recorded once; each later call is one replay
    def step(x, y):
        with rp.Tape() as tape:
            loss = rp.cross_entropy(net(x), y)
            optimizer.step(tape.gradient(loss, net.parameters()))
        return loss

    for _ in range(300):
        loss = step(points, labels)  # the arrays' memory is used as it is
    accuracy = np.mean(np.asarray(rp.argmax(net(rp.asarray(points)), axis=1)) == labels)
    print(f"loss {loss.item():.3f}, accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
